"""How fast a run spends: what its replies used within the last minute. Pure."""

from __future__ import annotations

from datetime import datetime

from agentforge.events.state.run_state import RunState

_WINDOW_S = 60.0
_MOST_KEPT = 200

Spent = tuple[str, int, float]


def spent_lately(known: tuple[Spent, ...], *, at: str, tokens: int, usd: float) -> tuple[Spent, ...]:
    """Add what a reply used, and forget what is older than a minute.

    Args:
        at: time stamp of the reply, ISO 8601 in UTC.
    """
    kept = (*(item for item in known if _is_recent(item, at)), (at, tokens, usd))
    if len(kept) <= _MOST_KEPT:
        return kept
    first, second, *rest = kept  # counted as late as the second: too strict for a moment, never too lenient
    return ((second[0], first[1] + second[1], first[2] + second[2]), *rest)


def rate(state: RunState) -> tuple[int, float]:
    """Sum up the minute before the last event of the run.

    Returns:
        Tokens, US dollars.
    """
    recent = [item for item in state.lately if _is_recent(item, state.last_at)]
    return sum(item[1] for item in recent), sum(item[2] for item in recent)


def _is_recent(item: Spent, now: str) -> bool:
    """Within the minute; a clock that was set back makes nothing old."""
    return (datetime.fromisoformat(now) - datetime.fromisoformat(item[0])).total_seconds() < _WINDOW_S
