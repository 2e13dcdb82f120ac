"""The views of a session: files of the data directory that other programs read; never read back as truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import CheckpointMade, TurnFinished
from agentforge.events.state.run_state import RunState
from agentforge.store.log.clock import utc_now
from agentforge.store.log.files import make_folder, replace_file, storage_error
from agentforge.store.log.reader import read
from agentforge.store.sessions.events import event_line
from agentforge.store.sessions.snapshot import snapshot_bytes

if TYPE_CHECKING:
    from typing import Self

    pass
    from agentforge.store.blobs import Blobs
    from agentforge.store.log.records import Record
    from agentforge.store.log.snapshot import Snapshot


class SessionViews:
    """The files of one session, brought up to date when a turn ends and when the session is closed.

    sessions/ID.json is written whole; events/ID.jsonl grows; checkpoints/CHECKPOINT.json is written once.
    """

    def __init__(self, folder: Path, blobs: Blobs) -> None:
        self._folder = folder
        self._blobs = blobs
        self._state: RunState | None = None
        self._due = False
        self._at = ""
        self._lines: list[bytes] = []
        self._sequence = 0
        self._anew = True
        self._checkpoints: dict[str, bytes] = {}

    @classmethod
    def resumed(cls, folder: Path, blobs: Blobs, *, after: Snapshot | None = None) -> Self:
        """Views that are written anew: the log is read from its beginning, whatever the files hold."""
        views = cls(folder, blobs)
        views._state = after.state if after is not None else None
        return views

    @classmethod
    def replayed(cls, folder: Path, blobs: Blobs) -> Self:
        """Views written anew from the log.

        Raises:
            IntegrityError: the log was altered or damaged.
        """

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
        line = event_line(record, state, sequence=self._sequence + 1)
        if line:
            self._lines.append(line)
            self._sequence += 1
        if isinstance(record.event, CheckpointMade):
            name = record.event.checkpoint_id
            if not (self._folder.parent.parent / "checkpoints" / f"{name}.json").exists():
                self._checkpoints[name] = self._snapshot(state)
        self._due = self._due or isinstance(record.event, (TurnFinished, CheckpointMade))

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
        """Write what is new."""
        self._due = False
        if self._state is None or self._state.kind != "session":
            return
        name = self._state.run_id
        _write(self._place("sessions") / f"{name}.json", self._snapshot(self._state))
        for checkpoint, content in self._checkpoints.items():
            _write(self._place("checkpoints") / f"{checkpoint}.json", content)
        self._checkpoints.clear()
        if self._lines or self._anew:
            self._write_events(self._place("events") / f"{name}.jsonl")

    def _snapshot(self, state: RunState) -> bytes:
        return snapshot_bytes(state, updated_at=self._at or utc_now(), sequence=self._sequence)

    def _write_events(self, file: Path) -> None:
        lines = b"".join(self._lines)
        if self._anew or not file.exists():
            _write(file, lines)
        else:
            _append(file, lines)
        self._lines.clear()
        self._anew = False

    def _place(self, name: str) -> Path:
        folder = self._folder.parent.parent / name
        if not folder.is_dir():
            make_folder(folder)
            folder.chmod(0o700)
        return folder


def _write(file: Path, content: bytes) -> None:
    replace_file(file, content)
    file.chmod(0o600)


def _append(file: Path, lines: bytes) -> None:
    try:
        with file.open("ab") as out:
            out.write(lines)
    except OSError as exc:
        raise storage_error(exc, file) from exc
