"""Checks of single calls that a stage is stuck on: what a human may say of each, and which of them one took away. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.kinds.choices import Choice, fixed
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.stage import Json, items, texts

CHECKS = "checks"
"""The name under which a question keeps the calls that can be taken away."""
_MOST = 5


def check_choices(facts: Json) -> tuple[tuple[str, ...], tuple[Choice, ...]]:
    """The calls whose result was checked and is another one, and an answer for each that takes the check away.

    Args:
        facts: of the stage that is stuck.
    """
    held_out = facts.get("held_out")
    rows = items(held_out.get("failed")) if isinstance(held_out, Mapping) else []
    calls = tuple(dict.fromkeys(str(row["call"]) for row in rows if row.get("call")))[:_MOST]
    then = "This check is taken away, the stage is done again without it, and the report tells your answer."
    return calls, tuple(fixed(_wrong(call), then) for call in calls)


def refuted(state: RunState) -> frozenset[str]:
    """The calls whose check a human took away."""
    return frozenset(
        call
        for item in state.escalations.values()
        if item.resolution is not None and item.resolution.decision == "answer"
        for call in texts(item.context.get(CHECKS))
        if item.resolution.text == _wrong(call)
    )


def _wrong(call: str) -> str:
    return f"the check of {call} is wrong"
