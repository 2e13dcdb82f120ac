"""What a delivery means for the state. Pure."""

from __future__ import annotations

from dataclasses import replace

from agentforge.events import kinds
from agentforge.events.state.run_state import RunState


def delivered(state: RunState, event: kinds.Delivered, _at: str) -> RunState:
    """Keep what was made."""
    return replace(
        state,
        delivered={"branch": event.branch, "commit": event.commit, "tree": event.tree, "applied": event.applied},
    )


def attested(state: RunState, event: kinds.Attested, _at: str) -> RunState:
    """Keep what was stated."""
    return replace(state, attested={"envelopes": event.envelopes, "key_id": event.key_id, "note": event.note})
