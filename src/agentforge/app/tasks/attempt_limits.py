"""What one of several independent attempts may still use: together they stay within the limits of their task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agentforge.app.tasks.limit_changes import used
from agentforge.events.state.run_state import RunState

Used = Mapping[str, object]
"""What an attempt used on its own, as `AttemptFinished` records it."""


def own_limits(
    state: RunState, told: Iterable[Used], ended: Iterable[Used], *, shares: int = 1
) -> dict[str, int | float | None]:
    """The limits of the next attempt: what all shared so far, and its part of what is left.

    Args:
        state: of the task; what `told` names is counted in it already.
        told: attempts that ended before this process began.
        ended: attempts that ended since.
        shares: among how many attempts the rest is divided; 1 where they are made one after the other.
    """
    before, since = list(told), list(ended)
    limits: dict[str, int | float | None] = {}
    for name in ("max_steps", "budget_tokens", "budget_usd"):
        limit = getattr(state.limits, name)
        if limit is None:
            continue
        shared = used(state, name) - sum(_of(name, one) for one in before)
        left = limit - shared - sum(_of(name, one) for one in (*before, *since))
        value = shared + max(0, left) / shares
        limits[name] = int(value) if isinstance(limit, int) else value
    return limits


def _of(name: str, spent: Used) -> float:
    keys = {"max_steps": ("steps",), "budget_tokens": ("prompt_tokens", "completion_tokens")}.get(name, ("cost_usd",))
    return sum(value for key in keys if isinstance(value := spent.get(key, 0), (int, float)))
