"""A run as the dashboard reads it: folded once, then only what was added; every record is checked on the way."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from agentforge.errors import IntegrityError, UsageError
from agentforge.events.storage.codec import encode
from agentforge.frozen import dataclass
from agentforge.store.log.reader import LogScan
from agentforge.views.audit import AuditFold

if TYPE_CHECKING:
    from agentforge.events.state.run_state import RunState
    from agentforge.views.actions_view import Entry

_KEPT = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where a record stands in its log.

    Attributes:
        place: of its first byte.
        step: the last step up to it.
    """

    place: int
    seq: int
    at: str
    kind: str
    stage: str
    step: int
    digest: str


class Reading:
    """One run; `advance` takes in what was added to its log since the last time.

    Attributes:
        marks: of all records, oldest first.
    """

    def __init__(self, folder: Path) -> None:

        self.folder = folder
        self.lock = Lock()
        self.marks: list[Mark] = []
        self._scan = LogScan(folder)
        self._fold = AuditFold()
        self._inode = 0

    def advance(self) -> None:
        """Read on to the end of the log.

        Raises:
            IntegrityError: it was altered or damaged.
        """
        place = self._scan.size_bytes
        for record in self._scan:
            kind, data = encode(record.event)
            self._fold.see(record.at, record.hash, record.event)
            step = data.get("step")
            self.marks.append(
                Mark(
                    place=place,
                    seq=record.seq,
                    at=record.at,
                    kind=kind,
                    stage=str(data.get("stage") or self.state.stage),
                    step=step if isinstance(step, int) else self.state.turn.step,
                    digest=record.hash,
                )
            )
            place = self._scan.size_bytes

    @property
    def state(self) -> RunState:
        """The state after the last record."""
        return self._fold.state

    @property
    def steps(self) -> list[Entry]:
        """Every finished step."""
        return self._fold.steps

    def audit(self) -> dict[str, Any]:
        """The audit of the run so far (views.audit)."""
        return self._fold.value()

    def replaced(self) -> bool:
        """Whether the log is not the one any more that was read: another file, or a shorter one."""
        found = (self.folder / "events.jsonl").stat()
        before, self._inode = self._inode, found.st_ino
        return before not in (0, found.st_ino) or found.st_size < self._scan.size_bytes

    def data_of(self, marks: list[Mark]) -> Iterator[tuple[Mark, Mapping[str, Any]]]:
        """Records with what they say.

        Raises:
            IntegrityError: one of them was altered since it was checked.
        """
        with (self.folder / "events.jsonl").open("rb") as file:
            for mark in marks:
                file.seek(mark.place)
                value = json.loads(file.readline())
                if value.get("hash") != mark.digest:
                    raise IntegrityError(
                        f"record {mark.seq} was altered while it was read", hint="see: agentforge verify"
                    )
                yield mark, value["data"]


class Readings:
    """The runs that were looked at last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Path, Reading] = OrderedDict()
        self._lock = Lock()

    def of(self, folder: Path) -> Reading:
        """The run in a folder, as it is now; keep `lock` while you use it.

        Raises:
            IntegrityError: its log was altered or damaged.
            UsageError: it is gone.
        """
        reading = self._kept_one(folder)
        with reading.lock:
            try:
                if reading.replaced():
                    reading = self._anew(folder)
                reading.advance()
            except FileNotFoundError as exc:
                raise UsageError(f"{folder.name} is gone", hint="it was removed while you looked") from exc
            except IntegrityError:
                self._forget(folder)
                raise
        return reading

    def _kept_one(self, folder: Path) -> Reading:
        with self._lock:
            reading = self._kept.setdefault(folder, Reading(folder)) if folder not in self._kept else self._kept[folder]
            self._kept.move_to_end(folder)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return reading

    def _anew(self, folder: Path) -> Reading:
        with self._lock:
            self._kept[folder] = reading = Reading(folder)
            return reading

    def _forget(self, folder: Path) -> None:
        with self._lock:
            self._kept.pop(folder, None)


def number_of(text: str | None) -> int:
    """A number out of an address; 0 for anything else."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0
