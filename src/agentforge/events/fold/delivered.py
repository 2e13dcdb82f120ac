"""What a run delivers: the tree that its last measuring stage judged, and what was handed over. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from agentforge.events import kinds
from agentforge.events.state.run_state import RunState

_NAMES = ("verify", "refactor", "green")

Held = TypeVar("Held")


def judged_name(held: Mapping[str, object]) -> str:
    """The name under which the delivered tree stands among facts, trees or evidence; `green` when none does."""
    return next((name for name in _NAMES if held.get(name)), _NAMES[-1])


def judged(held: Mapping[str, Held], default: Held) -> Held:
    """What stands there under that name."""
    return held.get(judged_name(held)) or default


def delivered(state: RunState, event: kinds.Delivered, _at: str) -> RunState:
    """Keep what was made."""
    return replace(
        state,
        work=replace(
            state.work,
            delivered={"branch": event.branch, "commit": event.commit, "tree": event.tree, "applied": event.applied},
        ),
    )


def attested(state: RunState, event: kinds.Attested, _at: str) -> RunState:
    """Keep what was stated."""
    return replace(
        state,
        work=replace(state.work, attested={"envelopes": event.envelopes, "key_id": event.key_id, "note": event.note}),
    )
