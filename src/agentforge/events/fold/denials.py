"""Calls that were not approved, as a run's result lists them."""

from __future__ import annotations

from agentforge.events import kinds


def denial_of(event: kinds.ToolFinished) -> tuple[kinds.Json, ...]:
    """One entry {step, tool, reason} for a call that the policy or a hook refused, else none."""
    if event.error_type not in ("not-approved", "hook"):
        return ()
    return ({"step": event.step, "tool": event.name, "reason": event.summary},)
