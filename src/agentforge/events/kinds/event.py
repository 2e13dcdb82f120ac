"""What every event is."""

from __future__ import annotations

from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base of all events."""
