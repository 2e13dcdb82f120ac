"""What can still be read of a session whose log was cut off or damaged: everything before the damage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.errors import IntegrityError
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunState
from agentforge.store.log.reader import read

if TYPE_CHECKING:
    from agentforge.events.kinds import Event


def salvaged_state(folder: Path) -> tuple[RunState, int]:
    """Fold the records of a session up to the first that is damaged; a turn that goes on there is closed.

    Returns:
        The state, and how many records it holds.
    Raises:
        IntegrityError: not even its first record can be read.
    """
    state, count, at = RunState(), 0, ""
    try:
        for record in read(folder):
            state, count, at = evolve(state, record.event, at=record.at), record.seq, record.at
    except IntegrityError:
        if not state.run_id:
            raise
    if state.talk.open:
        ended: Event = kinds.TurnFinished(
            turn=state.talk.turn, outcome="failed", reason="the record of the session is damaged from here on"
        )
        state = evolve(state, ended, at=at)
    return state, count
