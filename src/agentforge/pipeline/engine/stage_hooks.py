"""The user's hooks around a stage: before its agent begins, after its result was verified."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentforge.canonical import canonical_bytes
from agentforge.context.sections import Piece, row_of
from agentforge.events import kinds
from agentforge.events.kinds.choices import OWN_WORDS, approving, fixed
from agentforge.events.state.run_state import RunState
from agentforge.hooks import Outcome
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.stages import ORDER

_NOTE = "note of hook "
_NOTE_SHARE = 15


def before_stage(state: RunState, runtime: Runtime) -> Outcome | None:
    """Ask the hooks whether a stage's agent may begin; None when there are none."""
    if runtime.hooks is None or not runtime.hooks.has("before_agent"):
        return None
    runtime.ready()
    return runtime.hooks.before_agent(state.brief.request)


def after_stage(stage: str, state: RunState, runtime: Runtime) -> Outcome | None:
    """Show a stage's verified artifact to the hooks; None when there are none, or when no model made it."""
    by_model = state.review.submission is not None and state.review.submission.by == "model"
    if runtime.hooks is None or not by_model or state.review.verdict is None or not runtime.hooks.has("after_agent"):
        return None
    response = canonical_bytes({"stage": stage, "artifact": state.review.verdict.artifact}).decode()
    return runtime.hooks.after_agent(state.brief.request, response)


def not_run(stage: str, attempt: int, runtime: Runtime) -> tuple[kinds.HookFinished, ...]:
    """The hooks that are known and not run, told once, when the run begins."""
    first = stage == ORDER[0] and attempt == 1
    return runtime.hooks.not_run() if first and runtime.hooks is not None else ()


def stopped(
    trigger: str, stage: str, state: RunState, outcome: Outcome | None, *, attempt: int
) -> kinds.EscalationRaised | None:
    """The question to a human when hooks do not let a stage go on; None when they do, or when a human agreed already."""
    if outcome is None or outcome.verdict not in ("deny", "ask"):
        return None
    key = f"{trigger}:{stage}:{attempt}"
    asks = outcome.verdict == "ask"
    if asks and any(item.context.get("hook") == key and item.resolution for item in state.people.escalations.values()):
        return None
    word = "wants a decision about" if asks else "blocks"
    on = fixed("go on", "The stage continues.") if asks else fixed("again", "AgentForge runs the hook once more.")
    words = replace(OWN_WORDS, then="AgentForge runs the hook once more, and the model of the stage reads your words.")
    back = approving(stage)[1:] if trigger == "after_agent" else () if asks else (words,)
    return kinds.EscalationRaised(
        escalation_id=f"E{len(state.people.escalations) + 1}",
        stage=stage,
        kind="question",
        reason=f"a {trigger} hook {word} the stage {stage}: {outcome.reason}",
        question="Continue all the same?" if asks else "Do what the hook asks for, then answer `again`.",
        options=("go on",) if asks else ("again",),
        context={"hook": key},
        choices=tuple(choice.value for choice in (on, *back)),
    )


def with_notes(rows: Sequence[Mapping[str, object]], outcome: Outcome | None) -> list[dict[str, object]]:
    """A stage's material with the words of the hooks; those of an earlier attempt go."""
    kept = [dict(row) for row in rows if not str(row.get("name", "")).startswith(_NOTE)]
    for said in outcome.context if outcome is not None else ():
        name, _, text = said.partition(": ")
        kept.append(row_of(Piece(name=_NOTE + name, text=text, share=_NOTE_SHARE)))
    return kept


def material_rows(blob: bytes) -> list[dict[str, object]]:
    """Read back the rows that a stage's material was stored as."""
    value = json.loads(blob)
    return value if isinstance(value, list) else []
