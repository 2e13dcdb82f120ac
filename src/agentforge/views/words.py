"""The words and forms that all views share: how a run stands, times to the second, money that may be unknown."""

from __future__ import annotations

from agentforge.events.state.run_state import RunState, Totals


def seconds(at: str) -> str | None:
    """A record's time stamp to the second, e.g. `2025-12-31T10:00:05Z`; None for no time."""
    return f"{at[:19]}Z" if at else None


def standing(state: RunState, *, interrupted: bool) -> str:
    """How the run stands: delivered, analyzed, failed, aborted, escalated, waiting, paused or running.

    Args:
        interrupted: the last thing recorded is that the driving process stopped.
    """
    if state.outcome:
        return state.outcome
    if state.open_escalations:
        return "escalated"
    if state.waits_for:
        return "waiting"
    return "paused" if interrupted else "running"


def cost_usd(totals: Totals) -> float | None:
    """The run's cost in USD, None when the price of a call is unknown."""
    return round(totals.cost_usd, 6) if totals.cost_known else None
