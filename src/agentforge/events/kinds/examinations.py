"""What an examiner that saw the request and the interface alone expected, and what the delivered tree gives. Event and fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from agentforge.events.state.run_state import RunState

Json = Mapping[str, object]
EXAMINE = "examine"
"""The name under which the examiner's call, its cost and its facts are recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined(Event):
    """The examiner's examples were run on a tree and settled.

    Attributes:
        tree: the git tree that they were run on.
        asked: digest of the words that the examiner was given.
        rows: {call, returns or raises, says, confidence, held, got, unchecked, verdict, why} for every example; the verdict is
            "agrees", "contradicts" (a result that the request states), "open" (a reading that it does not settle) or "dropped".
        reason: why nothing was examined, "" when something was.
    """

    attempt: int
    tree: str
    asked: str = ""
    rows: tuple[Json, ...] = ()
    reason: str = ""


def examined(state: RunState, event: Examined, _at: str) -> RunState:
    """Keep what came of it; the run is between two stages again."""
    from agentforge.events.state.run_state import StageState, Turn

    known = state.stages.get(EXAMINE, StageState())
    known = replace(known, status="skipped" if event.reason else "verified", reason=event.reason)
    facts = {"tree": event.tree, "asked": event.asked, "rows": list(event.rows), "reason": event.reason}
    return replace(
        state,
        stage="",
        stages={**state.stages, EXAMINE: known},
        facts={**state.facts, EXAMINE: facts},
        turn=Turn(step=state.turn.step),
        error=None,
    )
