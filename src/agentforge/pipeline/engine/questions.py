"""What a question to a human offers, and what it shows: worked out when it is asked, recorded with it. Pure.

What a human judges, shown with the question: the artifact that is to be approved, the change, the failures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from agentforge.context.render import render
from agentforge.events.kinds import EscalationRaised, Event
from agentforge.events.kinds.choices import ABORT, OWN_WORDS, Choice, approving, fixed, others_of_limit, raising
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.effects import Ask
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Stage

_OPENED = ("red", "spec", "guard", "clarify")
"""Stages that a question names as those to open again, the nearest first; any that has passed can be opened."""


def asked(effect: Ask, state: RunState, shown: Callable[[Ask], str]) -> Iterator[Event]:
    """The questions of an effect, all at once.

    Args:
        shown: the text that a question is about.
    """
    together = (effect, *effect.also)
    for number, one in enumerate(together, start=1):
        yield EscalationRaised(
            escalation_id=f"E{len(state.people.escalations) + number}",
            stage=one.stage,
            kind=one.kind,  # type: ignore[arg-type] # decide uses the closed set
            reason=one.reason,
            question=one.question,
            options=one.options,
            context=dict(one.context),
            choices=tuple(choice.value for choice in one.choices),
            shown=shown(one),
            following=len(together) - number,
        )


def offered(events: Iterator[Event], state: RunState, stages: Mapping[str, Stage]) -> Iterator[Event]:
    """The events of an effect; whoever asks, the question says what can be answered."""
    for event in events:
        yield with_choices(event, state, stages) if isinstance(event, EscalationRaised) else event


def with_choices(event: EscalationRaised, state: RunState, stages: Mapping[str, Stage]) -> EscalationRaised:
    """The question with everything that can be answered; one that brought its own choices keeps them.

    Every question can also end the task, and where earlier stages can be opened again it says which.
    """
    own = own_choices(event, state, stages)
    of_a_step = event.kind == "approval" and "step" in event.context
    reopen = () if of_a_step or event.kind == "limit" else reopening(event, state)
    every = (*own, *reopen) if ABORT in own else (*own, *reopen, ABORT)
    return replace(event, choices=tuple(choice.value for choice in every))


def own_choices(event: EscalationRaised, state: RunState, stages: Mapping[str, Stage]) -> tuple[Choice, ...]:
    """What a question of its kind offers beside going back and ending."""
    if event.choices:
        told = tuple(Choice(**row) for row in event.choices)  # type: ignore[arg-type] # written by Choice.value
        for_a_model = event.kind == "stuck" and "base_line" not in event.context  # no model repairs how the tests run
        return (*told, *_of_stuck(event.stage, state, stages)) if for_a_model else told
    if event.kind == "limit":
        return (raising(event.reason), *others_of_limit(event.reason))
    if event.kind == "approval":
        both = approving(event.stage, step="step" in event.context)
        again = "step" in event.context or done_again(event.stage, state, stages)
        return both if again else both[:1]
    then = f"AgentForge continues {event.stage or 'the task'} with this answer."
    options = tuple(fixed(text, then) for text in event.options)
    if event.kind == "stuck":
        return (*options, *_of_stuck(event.stage, state, stages))
    return (*options, replace(OWN_WORDS, then=f"AgentForge continues {event.stage or 'the task'} with your answer."))


def _of_stuck(stage: str, state: RunState, stages: Mapping[str, Stage]) -> tuple[Choice, ...]:
    """A stage that has no model can only be measured again, when what it measures was put right."""
    if stage in stages and not done_again(stage, state, stages):
        return (Choice(label="again", then=f"AgentForge measures {stage} again, as it is now.", decision="approve"),)
    return (
        replace(
            OWN_WORDS, then=f"The model tries {stage or 'it'} again with your words, and has all of its attempts again."
        ),
        Choice(label="again", then="The model tries again without anything new.", decision="approve"),
    )


def reopening(event: EscalationRaised, state: RunState) -> tuple[Choice, ...]:
    """The earlier stages that are worth opening again with words."""
    names = list(state.progress.stages)
    earlier = names[: names.index(event.stage)] if event.stage in names else []
    passed = [name for name in _OPENED if name in earlier and state.progress.stages[name].status == "verified"]
    if state.brief.tests and "red" in passed:
        passed.remove("red")
    return tuple(
        Choice(
            label=f"open {name} again",
            then=f"AgentForge does {name} again with your words, from the work that is there, and measures what follows again.",
            decision="answer",
            words=True,
            reopen=name,
        )
        for name in passed
    )


def done_again(stage: str, state: RunState, stages: Mapping[str, Stage]) -> bool:
    """Whether somebody would do a stage differently after a human's words: its model, or that of the stage it goes back to."""
    if stage not in stages:
        return True
    name = stages[stage].rejected_to or stage
    told = replace(
        state, review=replace(state.review, findings=({"rule": "human", "passed": False, "message": "", "path": ""},))
    )
    return name in stages and stages[name].needs_model(told)


_MOST_LINES = 400


def exhibit(effect: Ask, state: RunState, runtime: Runtime) -> str:
    """The text that a question is about, "" where the question says it all.

    Of an approval: the artifact itself, and of a stage that writes files the diff. Of a stage that is stuck: the failing tests
    and what was written.
    """
    if effect.kind == "approval" and state.review.verdict is not None and "step" not in dict(effect.context):
        return _bounded(_approved(effect.stage, state, runtime), state)
    if effect.kind == "stuck" and effect.stage == state.progress.stage:
        failing = str(state.work.facts.get(state.progress.stage, {}).get("failing_text") or "")
        return _bounded("\n\n".join(part for part in (failing, _diff(effect.stage, state, runtime)) if part), state)
    return ""


def _approved(stage: str, state: RunState, runtime: Runtime) -> str:
    artifact = state.review.verdict.artifact if state.review.verdict is not None else {}
    as_read = runtime.stages[stage].shown
    if as_read is not None:
        return as_read(artifact)
    diff = _diff(stage, state, runtime)
    return diff if diff else render(artifact)


def _diff(stage: str, state: RunState, runtime: Runtime) -> str:
    """What the stage changed; of a delivery everything that the run changed."""
    row = runtime.stages.get(stage)
    if row is None or not (row.shows_whole_change or row.writes != "none"):
        return ""
    base = state.work.trees.get("baseline", "")
    before = base if row.shows_whole_change else _tree_before(stage, state) or base
    now = state.work.trees.get("work", "")
    return runtime.diff(before, now) if before and now and before != now else ""


def _tree_before(stage: str, state: RunState) -> str:
    names = list(state.progress.stages)
    earlier = names[: names.index(stage)] if stage in names else []
    return next((state.work.trees[name] for name in reversed(earlier) if name in state.work.trees), "")


def _bounded(text: str, state: RunState) -> str:
    lines = text.rstrip().splitlines()
    if len(lines) <= _MOST_LINES:
        return "\n".join(lines)
    more = f"... {len(lines) - _MOST_LINES} more lines: agentforge inspect {state.identity.run_id} --show artifact"
    return "\n".join([*lines[:_MOST_LINES], more])
