"""Limits as a user gives them: a new value, or so much more than what was used or allowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentforge.errors import UsageError
from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from agentforge.events.state import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class Increase:
    """`+N`: so much more, in the unit of the limit (steps, tokens, USD, seconds)."""

    by: float


GivenLimits = Mapping[str, "int | float | Increase | None"]
"""Names of `events.state.Limits` -> a new value, an increase, or None for no bound."""


def raised(state: RunState, given: GivenLimits) -> dict[str, int | float | None]:
    """Work out the new limits of a run.

    An increase counts from the limit, or from what is used where that is more, so that the run can always go on.

    Raises:
        UsageError: an increase of a limit that the run does not have.
    """
    return {name: _after(state, name, value) if isinstance(value, Increase) else value for name, value in given.items()}


def used(state: RunState, name: str) -> float:
    """How much of a limit is used."""
    totals = state.totals
    return {
        "max_steps": totals.steps,
        "budget_tokens": totals.prompt_tokens + totals.completion_tokens,
        "budget_usd": totals.cost_usd,
        "deadline_s": state.active_s,
    }.get(name, 0)


def _after(state: RunState, name: str, more: Increase) -> int | float:
    limit = getattr(state.limits, name)
    if limit is None:
        shown = name.removesuffix("_s")
        raise UsageError(
            f"{shown} has no bound in this task: there is nothing to add to", hint="give a value without +"
        )
    value = max(limit, used(state, name)) + more.by
    return int(value) if isinstance(limit, int) else float(value)
