"""Limits as a user gives them: a new value, or so much more than what was used or allowed."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.errors import UsageError
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Increase:
    """`+N`: so much more, in the unit of the limit (steps, tokens, USD, seconds)."""

    by: float


GivenLimits = Mapping[str, "int | float | Increase | None"]
"""Names of `events.state.Limits` (or BUDGET) -> a new value, an increase, or None for no bound."""
BUDGET = "budget"
"""Stands for whichever limit the run waits for."""


def raised(state: RunState, given: GivenLimits) -> dict[str, int | float | None]:
    """Work out the new limits of a run.

    An increase counts from the limit, or from what is used where that is more, so that the run can always go on.

    Raises:
        UsageError: an increase of a limit that the run does not have, or BUDGET although none ran out.
    """
    named = {_exhausted(state) if name == BUDGET else name: value for name, value in given.items()}
    return {name: _after(state, name, value) for name, value in named.items()}


def _exhausted(state: RunState) -> str:
    """The limit that the run waits for."""
    asked = [item.reason.partition(":")[0] for item in state.people.open_escalations if item.kind == "limit"]
    if not asked:
        raise UsageError(
            f"no limit of {state.identity.run_id} is exhausted",
            hint="name one: --max-steps, --budget-tokens, --budget-usd, --deadline",
        )
    return {"deadline": "deadline_s"}.get(asked[-1], asked[-1])


def used(state: RunState, name: str) -> float:
    """How much of a limit is used."""
    totals = state.usage.totals
    return {
        "max_steps": totals.steps,
        "budget_tokens": totals.prompt_tokens + totals.completion_tokens,
        "budget_usd": totals.cost_usd,
        "deadline_s": state.progress.active_s,
    }.get(name, 0)


def _after(state: RunState, name: str, more: Increase | float | None) -> int | float | None:
    limit = getattr(state.brief.limits, name)
    if not isinstance(more, Increase):
        return int(more) if isinstance(limit, int) and more is not None else more
    if limit is None:
        shown = name.removesuffix("_s")
        raise UsageError(
            f"{shown} has no bound in this task: there is nothing to add to", hint="give a value without +"
        )
    value = max(limit, used(state, name)) + more.by
    return int(value) if isinstance(limit, int) else float(value)
