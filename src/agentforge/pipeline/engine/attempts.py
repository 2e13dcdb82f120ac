"""Independent attempts: when they are made, when their best is taken over, and where an attempt ends. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from agentforge.agent import Effect
from agentforge.events.kinds import ArtifactSubmitted, FactsGathered
from agentforge.events.kinds.choices import OWN_WORDS
from agentforge.events.kinds.event import Event
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.effects import AdoptAttempt, Ask, Finish, TryAttempts
from agentforge.pipeline.model.stage import Json, items

ENDED = "attempt"
"""Slug with which an attempt ends: it delivers nothing itself."""
_LAST = "green"
_AFTER = ("refactor", "deliver")


def attempts_first(state: RunState, stage: str) -> Effect | None:
    """Before the stage from which on several attempts are wanted; and the end of a run that is itself one of them."""
    if state.identity.candidate and (stage in _AFTER or _implemented(state)):
        return Finish(
            outcome="aborted", slug=ENDED, message="an attempt ends with its implementation; its parent chooses"
        )
    if state.brief.candidates < 2 or state.identity.candidate or stage != state.brief.candidates_from:
        return None
    if "chosen" not in state.relations.attempts:
        return TryAttempts(stage=stage)
    return _none_passed(state, stage) if not chosen_number(state) else None


def _implemented(state: RunState) -> bool:
    """Whether GREEN has passed: what an added stage does behind it is done by the parent."""
    known = state.progress.stages.get(_LAST)
    return bool(state.brief.added) and known is not None and known.status == "verified"


def adoption(state: RunState, stage: str) -> Effect | None:
    """Take over the chosen attempt's work, once; what is refused nevertheless is done again by the model."""
    known = state.progress.stages.get(stage)
    if state.review.submission is not None or known is None or known.attempt != 1 or not adopted(state, stage):
        return None
    return AdoptAttempt(stage=stage)


def adopted(state: RunState, stage: str) -> Json:
    """What the chosen attempt handed in for a stage: {draft, tree}; {} when there is none."""
    chosen = state.relations.attempts.get("chosen")
    stages = chosen.get("stages") if isinstance(chosen, Mapping) else None
    value = stages.get(stage) if isinstance(stages, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def chosen_number(state: RunState) -> int:
    """The number of the chosen attempt, 0 = none."""
    chosen = state.relations.attempts.get("chosen")
    number = chosen.get("number") if isinstance(chosen, Mapping) else 0
    return number if isinstance(number, int) else 0


def stages_of_attempt(order: Sequence[str], first: str) -> tuple[str, ...]:
    """The stages that an attempt does on its own, those from outside between them too: from the first one to GREEN."""
    return tuple(order[order.index(first) : order.index(_LAST) + 1])


def handed_in(events: Iterable[Event], own: Sequence[str]) -> dict[str, object]:
    """The last draft of each stage that an attempt did on its own, and the tree that it was measured on.

    Args:
        own: names of those stages; one that only reads is measured on no tree, and leaves the one before it as it is.
    """
    out: dict[str, object] = {}
    drafts: dict[str, object] = {}
    tree = ""
    for event in events:
        if isinstance(event, ArtifactSubmitted):
            drafts[event.stage] = event.draft
        if isinstance(event, FactsGathered) and event.name in own:
            tree = event.work or event.tree or tree
            if tree:
                out[event.name] = {"draft": drafts.get(event.name, {}), "tree": tree}
    return out


def _none_passed(state: RunState, stage: str) -> Effect | None:
    key = f"attempts:{stage}"
    if any(item.context.get("key") == key for item in state.people.escalations.values()):
        return None
    rows = "\n".join(
        f"- {row.get('child')}: {row.get('reason')}" for row in items(state.relations.attempts.get("rows"))
    )
    return Ask(
        stage=stage,
        kind="stuck",
        reason=f"none of {state.brief.candidates} independent attempts passed all rules",
        question=f"What should happen next? Say what is missing, and AgentForge makes one more attempt with your answer.\n{rows}",
        context=(("key", key), ("attempt", 0)),
        choices=(replace(OWN_WORDS, then=f"AgentForge makes one more attempt at {stage} with your words."),),
    )
