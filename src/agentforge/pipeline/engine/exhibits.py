"""What a human judges, shown with the question: the artifact that is to be approved, the change, the failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.context.render import render
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.effects import Ask
from agentforge.pipeline.model.prompt_text import specification_text

if TYPE_CHECKING:
    from agentforge.pipeline.model.runtime import Runtime

_MOST_LINES = 400
_CHANGING = ("red", "green", "refactor", "deliver", "guard", "change", "verify")


def exhibit(effect: Ask, state: RunState, runtime: Runtime) -> str:
    """The text that a question is about, "" where the question says it all.

    Of an approval: the artifact itself, and of a stage that writes files the diff. Of a stage that is stuck: the failing tests
    and what was written.
    """
    if effect.kind == "approval" and state.verdict is not None and "step" not in dict(effect.context):
        return _bounded(_approved(effect.stage, state, runtime), state)
    if effect.kind == "stuck" and effect.stage == state.stage:
        failing = str(state.facts.get(state.stage, {}).get("failing_text") or "")
        return _bounded("\n\n".join(part for part in (failing, _diff(effect.stage, state, runtime)) if part), state)
    return ""


def _approved(stage: str, state: RunState, runtime: Runtime) -> str:
    artifact = state.verdict.artifact if state.verdict is not None else {}
    if stage == "spec":
        return specification_text(artifact)
    diff = _diff(stage, state, runtime)
    return diff if diff else render(artifact)


def _diff(stage: str, state: RunState, runtime: Runtime) -> str:
    """What the stage changed; of a delivery everything that the run changed."""
    if stage not in _CHANGING and not (stage in runtime.stages and runtime.stages[stage].writes != "none"):
        return ""
    base = state.trees.get("baseline", "")
    before = base if stage in ("red", "guard", "deliver", "verify") else _tree_before(stage, state) or base
    now = state.trees.get("work", "")
    return runtime.diff(before, now) if before and now and before != now else ""


def _tree_before(stage: str, state: RunState) -> str:
    names = list(state.stages)
    earlier = names[: names.index(stage)] if stage in names else []
    return next((state.trees[name] for name in reversed(earlier) if name in state.trees), "")


def _bounded(text: str, state: RunState) -> str:
    lines = text.rstrip().splitlines()
    if len(lines) <= _MOST_LINES:
        return "\n".join(lines)
    more = f"... {len(lines) - _MOST_LINES} more lines: agentforge inspect {state.run_id} --show artifact"
    return "\n".join([*lines[:_MOST_LINES], more])
