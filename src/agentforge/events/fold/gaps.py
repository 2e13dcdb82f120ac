"""How much of the time between two records the run was at work. Pure."""

from __future__ import annotations

from datetime import datetime

from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState

_MAX_COUNTED_GAP_S = 3600.0
_AFTER_A_PAUSE = (
    kinds.RunResumed,
    kinds.LogRecovered,
    kinds.EscalationResolved,
    kinds.RunForked,
    kinds.ForkMade,
    kinds.RunMarked,
    kinds.NotificationSent,
)


def gap_s(state: RunState, event: Event, at: str) -> float:
    """Seconds since the last event; none while nobody drove the run, none when the clock was set back."""
    if not state.last_at or isinstance(event, _AFTER_A_PAUSE) or state.open_escalations:
        return 0.0
    gap = (datetime.fromisoformat(at) - datetime.fromisoformat(state.last_at)).total_seconds()
    return min(max(gap, 0.0), _MAX_COUNTED_GAP_S)
