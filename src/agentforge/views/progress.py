"""How far a run is on its way to a delivery, in percent. Pure."""

from __future__ import annotations

from agentforge.events.state.run_state import RunState

_WITHIN = {
    "intake": 5,
    "clarify": 10,
    "analyze": 15,
    "spec": 25,
    "red": 40,
    "green": 60,
    "refactor": 85,
    "deliver": 95,
    "plan": 50,
    "guard": 20,
    "change": 50,
    "verify": 80,
}
"""What is behind a run that works in a stage: shares of the steps that stages usually need."""


def progress(state: RunState) -> int:
    """The share of the way that lies behind the run; 100 is kept for a run that is over in good order."""
    if state.outcome in ("delivered", "analyzed"):
        return 100
    reached = [name for name, stage in state.stages.items() if stage.status != "skipped"]
    return max((_WITHIN.get(name, 0) for name in reached), default=0)
