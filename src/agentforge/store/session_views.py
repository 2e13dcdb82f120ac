"""The views of a session: files of the data directory that other programs read, written when a turn ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.events.kinds import TurnFinished
from agentforge.store.clock import utc_now
from agentforge.store.files import make_folder, replace_file
from agentforge.store.reader import read
from agentforge.store.session_snapshot import snapshot_bytes

if TYPE_CHECKING:
    from typing import Self

    from agentforge.events.state import RunState
    from agentforge.store.blobs import Blobs
    from agentforge.store.records import Record
    from agentforge.store.snapshot import Snapshot


class SessionViews:
    """The snapshot of one session, rewritten when a turn ends and when the session is closed."""

    def __init__(self, folder: Path, blobs: Blobs) -> None:
        self._folder = folder
        self._blobs = blobs
        self._state: RunState | None = None
        self._due = False
        self._at = ""

    @classmethod
    def resumed(cls, folder: Path, blobs: Blobs, *, after: Snapshot | None = None) -> Self:
        """Views that are written anew at the next end of a turn."""
        views = cls(folder, blobs)
        views._state = after.state if after is not None else None
        return views

    @classmethod
    def replayed(cls, folder: Path, blobs: Blobs) -> Self:
        """Views written anew from the log.

        Raises:
            IntegrityError: the log was altered or damaged.
        """
        from agentforge.events.evolve import evolve
        from agentforge.events.state import RunState

        views, state = cls(folder, blobs), RunState()
        for record in read(folder):
            state = evolve(state, record.event, at=record.at)
            views.observe(record, state, end=0)
        views.flush()
        return views

    def observe(self, record: Record, state: RunState, *, end: int) -> None:
        """Take the next record."""
        del end
        self._state, self._at = state, record.at
        self._due = self._due or isinstance(record.event, TurnFinished)

    def settled(self) -> bool:
        """Nothing is read back, so nothing can be out of step."""
        return True

    def keep_up(self) -> None:
        """Write when a turn has ended."""
        if self._due:
            self.flush()

    def seal(self) -> None:
        """Nothing to seal: the snapshot is for other programs, and no proof looks at it."""

    def flush(self) -> None:
        """Write the snapshot."""
        self._due = False
        if self._state is None or self._state.kind != "session":
            return
        folder = self._folder.parent.parent / "sessions"
        make_folder(folder)
        file = folder / f"{self._state.run_id}.json"
        replace_file(file, snapshot_bytes(self._state, updated_at=self._at or utc_now()))
        file.chmod(0o600)
