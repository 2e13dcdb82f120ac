"""The log of a run and its only writer: one record is one write and one sync, before anything else happens.

append, in this order: check the lease; check that the file is as long as we left it; write the line; sync; then, and
only then, the event counts: state, views, subscribers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path
from typing import Protocol, Self

from agentforge.canonical import digest_bytes
from agentforge.errors import ConflictError, IntegrityError, StorageError
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import Event, LogRecovered, StateSealed, StepFinished
from agentforge.events.state.run_state import RunState
from agentforge.events.storage.state_codec import encode, state_digest
from agentforge.frozen import dataclass
from agentforge.proof.anchors import Anchor
from agentforge.store.blobs import Blobs
from agentforge.store.log.files import make_folder, remove_halves, replace_file, storage_error, write_all
from agentforge.store.log.intact import refuse_cut, what_is_left
from agentforge.store.log.lease import Lease
from agentforge.store.log.reader import LOG, LogScan, begin
from agentforge.store.log.records import GENESIS, Record, not_before, read_line, write_line
from agentforge.store.log.snapshot import EVERY, Snapshot
from agentforge.store.views.projector import Projector
from agentforge.workspace.files.file_access import sync_folder

Clock = Callable[[], str]
Subscriber = Callable[[Event, RunState], None]
Anchors = Callable[[RunState], "Sequence[Anchor]"]


class Views(Protocol):
    """What people read of a run, kept in step with its log (see Projector)."""

    def __init__(self, folder: Path, blobs: Blobs) -> None: ...

    @classmethod
    def resumed(cls, folder: Path, blobs: Blobs, *, after: Snapshot | None = None) -> Self:
        """Views that go on where those in the folder stop."""

    @classmethod
    def replayed(cls, folder: Path, blobs: Blobs) -> Self:
        """Views written anew from the log."""

    def observe(self, record: Record, state: RunState, *, end: int) -> None:
        """Take the next record."""

    def settled(self) -> bool:
        """Whether what is in the folder fits the log."""

    def keep_up(self) -> None:
        """Write what is due."""

    def flush(self) -> None:
        """Write everything."""

    def seal(self) -> None:
        """Say what the views are, when the run is let go of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Position:
    """What is acknowledged: replaced as a whole, so that an interrupt finds the old one or the new one."""

    state: RunState = field(default_factory=RunState)
    head: str = GENESIS
    length: int = 0
    size_bytes: int = 0
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pending:
    """A record on its way to the disk."""

    record: Record
    line: bytes
    after: _Position


class RunLog:
    """A run that this process drives. Use as a context manager, or close it.

    Attributes:
        folder: the run's folder.
        blobs: large contents that events name by digest.
    """

    def __init__(self, folder: Path, *, clock: Clock, lease: Lease, views: type[Views] = Projector) -> None:
        self.folder = folder
        self.blobs = Blobs(folder / "blobs")
        self._clock = clock
        self._lease = lease
        self._position = _Position()
        self._pending: _Pending | None = None
        self._views = views
        self._projector: Views | None = views(folder, self.blobs)
        self._subscribers: list[Subscriber] = []
        self._descriptor = -1
        self._sealed = 0
        self._written = False

    @classmethod
    def create(cls, folder: Path, first: Event, *, clock: Clock, views: type[Views] = Projector) -> RunLog:
        """Start a run's log with its first record.

        Args:
            folder: the run's own folder; it may exist, a log in it may not.
            clock: now, ISO 8601 in UTC (clock.utc_now).
            views: what is kept in step with the log for people to read.
        Raises:
            ConflictError: there is a log already.
            LockedError: another process is just starting it.
            StorageError: the disk does not take it.
        """
        path = folder / LOG
        try:
            make_folder(folder)
        except OSError as exc:
            raise storage_error(exc, folder) from exc
        if path.exists():
            raise ConflictError(f"{path} exists already", hint="resume that run, or start another one")
        log = cls(folder, clock=clock, lease=Lease.take(folder, since=not_before(clock(), "")), views=views)
        try:
            log._open_descriptor(os.O_CREAT | os.O_EXCL)
            _sync_log_folder(folder)
            log.append(first)
        except BaseException:
            log.close()
            raise
        return log

    @classmethod
    def open(
        cls, folder: Path, *, clock: Clock, views: type[Views] = Projector, anchors: Anchors | None = None
    ) -> RunLog:
        """Go on with a run: become its writer and fold its log.

        The remains of a write that never ended are moved to `quarantine/`, which is recorded.

        Args:
            anchors: tells what was seen of the log from outside its folder. Nothing is written to a log that does not hold them:
                whoever goes on with it would make them anew, and nobody could see any more what is missing.
        Raises:
            IntegrityError: there is no log, or it was altered, damaged, cut off or rewritten.
            LockedError: another process drives the run.
            StorageError: the disk does not take it.
        """
        if not (folder / LOG).is_file():
            raise IntegrityError(f"{folder / LOG} is missing", hint="restore it from a copy of the run")
        log = cls(folder, clock=clock, lease=Lease.take(folder, since=not_before(clock(), "")), views=views)
        try:
            refuse_cut(folder)
            log._fold(anchors)
        except BaseException:
            log.close()
            raise
        return log

    @property
    def state(self) -> RunState:
        """What all acknowledged events fold to."""
        return self._position.state

    @property
    def head(self) -> str:
        """Hash of the last record."""
        return self._position.head

    @property
    def length(self) -> int:
        """Number of records."""
        return self._position.length

    def subscribe(self, subscriber: Subscriber) -> None:
        """Tell `subscriber` every event that is recorded from now on, with the state after it."""
        self._subscribers.append(subscriber)

    def append(self, event: Event) -> None:
        """Record one event, durably.

        Side effects: the views in the folder follow; subscribers are told.
        Raises:
            LockedError: this process is no longer the writer.
            StorageError: the disk did not take it; nothing that was acknowledged is lost. Open the run again to go on.
        """
        self._require_open()
        self._lease.check()
        self._settle()
        self._written = True
        self._pending = pending = self._next(event)
        self._write(pending.line)
        self._acknowledge(pending)
        for subscriber in self._subscribers:
            subscriber(pending.record.event, pending.after.state)
        self._seal_now_and_then(event)

    def write_views(self) -> None:
        """Bring the views up to date now."""
        self._require_open()
        self._settle()
        if self._projector is not None:
            self._projector.flush()

    def close(self) -> None:
        """Bring the views up to date and let go of the run. Closing twice does nothing."""
        left = ""
        try:
            if self._descriptor >= 0 and self._pending is None and self._projector is not None:
                self._projector.flush()
                self._projector.seal()
                ours = os.fstat(self._descriptor).st_size == self._position.size_bytes
                left = what_is_left(self.folder) if ours else ""
        finally:
            self._close_descriptor()
            if self._written and not left:
                self._lease.abandon()
            else:
                self._lease.release(left=left)

    def __enter__(self) -> RunLog:
        """Return the log itself."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the log."""
        self.close()

    def _fold(self, anchors: Anchors | None) -> None:
        scan = LogScan(self.folder)
        state, snapshot = begin(scan, self.folder)
        projector = self._views.resumed(self.folder, self.blobs, after=snapshot)
        for record in scan:
            state = evolve(state, record.event, at=record.at)
            projector.observe(record, state, end=scan.size_bytes)
            self._sealed = record.seq if isinstance(record.event, StateSealed) else self._sealed
        if not scan.length:
            raise IntegrityError(f"{scan.path} holds no complete record", hint="the run never began: start it again")
        if anchors is not None and (seen := anchors(state)):
            LogScan(self.folder).follow(anchors=seen)
        self._written = True
        self._position = _Position(
            state=state, head=scan.head, length=scan.length, size_bytes=scan.size_bytes, at=scan.at
        )
        self._lease.raise_above(scan.fence)
        remove_halves(self.folder)
        whole = projector.settled() and not self._lease.after_power_cut
        self._projector = projector if whole else self._views.replayed(self.folder, self.blobs)
        moved = self._quarantined(scan.torn)
        self._open_descriptor(0)
        if moved is not None:
            self.append(moved)
        self._projector.flush()

    def _seal_now_and_then(self, event: Event) -> None:
        """Put the digest of the state into the chain when there are enough records behind the last one."""
        if self.length - self._sealed < EVERY or not isinstance(event, StepFinished) or self.state.review.submission:
            return

        self._sealed = self.length + 1
        self.append(StateSealed(digest=state_digest(self.state)))

    def _quarantine_name(self) -> str:
        return f"quarantine/record-{self._position.length + 1:06d}-fence-{self._lease.fence:04d}"

    def _quarantined(self, torn: bytes) -> LogRecovered | None:
        """Keep the remains elsewhere first, with what a killed writer moved there and did not record, then cut them off.

        Returns:
            What is to be recorded, if there are remains.
        """
        unrecorded = list(self.folder.glob(f"quarantine/record-{self._position.length + 1:06d}-fence-*"))
        if not (torn or unrecorded):
            return None
        name = self._quarantine_name()
        kept = b"".join(data for path in sorted(unrecorded) if (data := path.read_bytes()) not in torn) + torn
        replace_file(self.folder / name, kept, durable=True)
        for path in unrecorded:
            if path != self.folder / name:
                path.unlink()
        try:
            self._cut_back()
        except OSError as exc:
            raise storage_error(exc, self.folder / LOG) from exc
        return LogRecovered(quarantined_bytes=len(kept), quarantine=name, digest=digest_bytes(kept))

    def _next(self, event: Event) -> _Pending:
        """The record that follows, and where the run stands after it; nothing is changed yet."""
        before = self._position
        type_name, data = encode(event)
        at = not_before(self._clock(), before.at)
        seq, fence = before.length + 1, self._lease.fence
        line = write_line(type_name, data, seq=seq, at=at, fence=fence, prev=before.head)
        record = read_line(
            line, seq=seq, prev=before.head, fence=fence
        )  # as every reader will see it, key order and all
        after = _Position(
            state=evolve(before.state, record.event, at=at),
            head=record.hash,
            length=seq,
            size_bytes=before.size_bytes + len(line),
            at=at,
        )
        return _Pending(record=record, line=line, after=after)

    def _write(self, line: bytes) -> None:
        """One write, one sync. After a failure the descriptor is never used again: its pages may be gone."""
        try:
            write_all(self._descriptor, line)
            os.fdatasync(self._descriptor)
        except OSError as exc:
            self._pending = None
            self._close_descriptor()
            error = storage_error(exc, self.folder / LOG)
            raise self._cut_back_after(error) from exc

    def _acknowledge(self, pending: _Pending) -> None:
        self._position = pending.after
        self._pending = None
        projector = self._projector
        self._projector = None  # an interrupt in what follows leaves none: the next append replays the views
        if projector is None:
            projector = self._views.replayed(self.folder, self.blobs)
        else:
            projector.observe(pending.record, pending.after.state, end=pending.after.size_bytes)
        projector.keep_up()
        self._projector = projector

    def _settle(self) -> None:
        """Make good for an append that was interrupted (Ctrl-C) between its write and its end."""
        size = os.fstat(self._descriptor).st_size
        pending, self._pending = self._pending, None
        if size == self._position.size_bytes:
            return
        if pending is None or size != pending.after.size_bytes:
            self._close_descriptor()
            raise IntegrityError(
                f"{self.folder / LOG} has {size} bytes and not {self._position.size_bytes}: something else wrote to it",
                hint="open the run again",
            )
        os.fdatasync(self._descriptor)
        self._acknowledge(pending)

    def _cut_back_after(self, error: StorageError) -> StorageError:
        try:
            self._cut_back()
        except OSError as exc:
            return StorageError(f"{error.message}; nor could its remains be cut off ({exc})", hint=error.hint)
        return error

    def _cut_back(self) -> None:
        """Cut the file to what is acknowledged, through a descriptor of its own."""
        descriptor = os.open(self.folder / LOG, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.ftruncate(descriptor, self._position.size_bytes)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _require_open(self) -> None:
        if self._descriptor < 0:
            raise StorageError(f"the log of {self.folder.name} is closed", hint="open the run again: agentforge resume")

    def _open_descriptor(self, flags: int) -> None:
        path = self.folder / LOG
        try:
            self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | flags, 0o644)
        except OSError as exc:
            raise storage_error(exc, path) from exc

    def _close_descriptor(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _sync_log_folder(folder: Path) -> None:
    try:
        sync_folder(folder)
    except OSError as exc:
        raise storage_error(exc, folder) from exc
