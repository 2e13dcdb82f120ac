"""Reading a log without becoming its writer: status, inspect, replay. Every record is checked on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from agentforge.errors import AgentForgeError, IntegrityError, StorageError, remedy_of
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import StateSealed
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.proof.anchors import Anchor
from agentforge.store.log.records import GENESIS, Record, check_link, read_line
from agentforge.store.log.snapshot import Snapshot, read_snapshot

LOG = "events.jsonl"
_LONGEST_RECORD = 4_000_000
_REFUSED = "see `agentforge verify ID`, and restore the folder from a copy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """A log, read to its end.

    Attributes:
        head: hash of the last record.
        length: number of records.
        torn_bytes: size of an incomplete last line, 0 as a rule.
    """

    state: RunState
    head: str
    length: int
    torn_bytes: int


class LogScan:
    """One pass over a log, record by record.

    Attributes:
        head, length, fence, at: of the last good record so far.
        size_bytes: where the last good record ends.
        torn: what stands behind it, when that is the remains of a write that never ended.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOG
        self.head = GENESIS
        self.length = 0
        self.fence = 0
        self.at = ""
        self.size_bytes = 0
        self.torn = b""

    def skip_to(self, snapshot: Snapshot) -> bool:
        """Check the chain up to a snapshot and go on behind it; whether the chain leads there and seals its state.

        Raises:
            IntegrityError: there is no log, or a record before the snapshot was altered or damaged.
        """
        head, length, size, seal = GENESIS, 0, 0, b""
        with self._opened() as lines:
            for line in lines:
                if size >= snapshot.end:
                    seal = line
                    break
                head, length, size = self._linked(line, length + 1, head), length + 1, size + len(line)
        if (head, length, size) != (snapshot.head, snapshot.records, snapshot.end) or _is_torn(seal):
            return False
        sealed = read_line(seal, seq=length + 1, prev=head, fence=snapshot.fence).event
        if not isinstance(sealed, StateSealed) or sealed.digest != snapshot.digest:
            return False
        self.head, self.length, self.size_bytes = head, length, size
        self.fence, self.at = snapshot.fence, snapshot.at
        return True

    def follow(self, *, anchors: Sequence[Anchor] = ()) -> None:
        """Check the chain to its end without reading what the records say; a last line that is being written is left out.

        Args:
            anchors: records that were seen from outside the folder.
        Raises:
            IntegrityError: there is no log, or a record was altered or damaged, or is not the one that was seen.
        """
        with self._opened() as lines:
            for line in lines:
                if _is_torn(line):
                    self.torn = line + lines.read()
                    self._refuse_lines_after_torn()
                    break
                self.head = self._linked(line, self.length + 1, self.head)
                self.length += 1
                self.size_bytes += len(line)
                self._refuse_other_than(anchors)
        self._refuse_shorter_than(anchors)

    def __iter__(self) -> Iterator[Record]:
        """Yield the good records.

        Raises:
            IntegrityError: there is no log, or a record that is not the last one is damaged.
        """
        with self._opened() as lines:
            lines.seek(self.size_bytes)
            for line in lines:
                if _is_torn(line):
                    self.torn = line + lines.read()
                    self._refuse_lines_after_torn()
                    return
                yield self._next(line)

    def _opened(self) -> BinaryIO:
        try:
            return self.path.open("rb")
        except FileNotFoundError as exc:
            raise IntegrityError(f"{self.path} is missing", hint="restore it from a copy of the run") from exc
        except OSError as exc:
            raise unreadable(exc, self.path) from exc

    def _refuse_shorter_than(self, anchors: Sequence[Anchor]) -> None:
        for anchor in anchors:
            if anchor.records > self.length:
                raise IntegrityError(
                    f"{self.path} has {self.length} records, and the {anchor.source} saw {anchor.records}: "
                    "its end was cut off",
                    hint=_REFUSED,
                )

    def _linked(self, line: bytes, seq: int, prev: str) -> str:
        try:
            return check_link(line, seq=seq, prev=prev)
        except IntegrityError as exc:
            raise IntegrityError(f"{self.path}: {exc.message}", hint=exc.hint) from exc

    def _refuse_other_than(self, anchors: Sequence[Anchor]) -> None:
        for anchor in anchors:
            if anchor.records == self.length and anchor.head != self.head:
                told = f"the {anchor.source} saw another record {self.length}: the log was rewritten"
                raise IntegrityError(f"{self.path}: {told}", hint=_REFUSED)

    def _next(self, line: bytes) -> Record:
        try:
            record = read_line(line, seq=self.length + 1, prev=self.head, fence=self.fence)
        except IntegrityError as exc:
            raise IntegrityError(f"{self.path}: {exc.message}", hint=exc.hint) from exc
        self.head, self.length, self.fence, self.at = record.hash, record.seq, record.fence, record.at
        self.size_bytes += len(line)
        return record

    def _refuse_lines_after_torn(self) -> None:
        if b"\n" in self.torn.rstrip(b"\x00")[:-1]:
            raise IntegrityError(f"{self.path}: record {self.length + 1} is damaged", hint="restore it from a copy")


def read(folder: Path) -> Iterator[Record]:
    """Yield the checked records of a run; an incomplete last line (another process is writing it) is left out.

    Raises:
        IntegrityError: there is no log or nothing in it, or it was altered or damaged.
    """
    scan = LogScan(folder)
    yield from scan
    _refuse_nothing(scan)


def fold(folder: Path) -> Folded:
    """Read a run to its end.

    Raises:
        IntegrityError: there is no log or nothing in it, or it was altered or damaged.
    """
    scan = LogScan(folder)
    state, _ = begin(scan, folder)
    for record in scan:
        state = evolve(state, record.event, at=record.at)
    _refuse_nothing(scan)
    return Folded(state=state, head=scan.head, length=scan.length, torn_bytes=len(scan.torn))


def begin(scan: LogScan, folder: Path) -> tuple[RunState, Snapshot | None]:
    """Where folding begins: behind the snapshot when there is one that the chain leads to, else at the first record.

    Raises:
        IntegrityError: there is no log, or a record before the snapshot was altered or damaged.
    """
    snapshot = read_snapshot(folder)
    if snapshot is not None and scan.skip_to(snapshot):
        return snapshot.state, snapshot
    return RunState(), None


def unreadable(exc: OSError, path: Path) -> AgentForgeError:
    """The error for a log that cannot be opened: something else stands in its place, or the system does not let us."""
    if isinstance(exc, IsADirectoryError):
        return IntegrityError(f"{path} is a folder and no log", hint="restore the log from a copy of the run")
    hint = "look at who owns it, and at its mode" if isinstance(exc, PermissionError) else remedy_of(exc)
    return StorageError(f"{path} cannot be read: {exc.strerror or exc}", hint=hint)


def load_state(folder: Path) -> RunState:
    """The state that a run's log folds to.

    Raises:
        IntegrityError: there is no log, or it was altered or damaged.
    """
    return fold(folder).state


def _refuse_nothing(scan: LogScan) -> None:
    if not scan.length:
        raise IntegrityError(f"{scan.path} holds no complete record", hint="the run never began: start it again")


def _is_torn(line: bytes) -> bool:
    """Whether a write never ended: no line end, or bytes that the file system never filled (our lines hold no NUL)."""
    return not line.endswith(b"\n") or b"\x00" in line


def first_record(folder: Path) -> Mapping[str, object]:
    """What the first record of a run says, unchecked; nothing where there is none."""
    try:
        with (folder / LOG).open("rb") as file:
            value = json.loads(file.readline(_LONGEST_RECORD))
    except (OSError, ValueError):
        return {}
    data = value.get("data") if isinstance(value, dict) else None
    return data if isinstance(data, Mapping) else {}
