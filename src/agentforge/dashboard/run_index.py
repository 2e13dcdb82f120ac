"""A run as the dashboard reads it: an index of its records, then only what was added; every record is checked on the way.

The trail of a run in pages: which records a filter lets through, and what a line says of each.
"""

from __future__ import annotations

import json
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from agentforge.dashboard.timeline import Timeline
from agentforge.errors import IntegrityError, UsageError
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.store.log.intact import refuse_cut
from agentforge.store.log.reader import LOG, LogScan, begin
from agentforge.store.log.records import GENESIS, check_link
from agentforge.views.audit import audit_value

_KEPT = 16
_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where a record stands in its log.

    Attributes:
        place: of its first byte.
        stage, step: the last ones up to it.
    """

    place: int
    seq: int
    kind: str
    stage: str
    step: int
    digest: str


class Index:
    """The marks of all records in about fifty bytes each: a log of 100,000 records is never held in memory."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._known: dict[str, int] = {}
        self._places, self._steps = array("Q"), array("L")
        self._kinds, self._stages = array("H"), array("H")
        self._digests = bytearray()

    def __len__(self) -> int:
        return len(self._places)

    def add(self, place: int, *, kind: str, stage: str, step: int, digest: str) -> None:
        """Take in the next record."""
        self._places.append(place)
        self._kinds.append(self._number(kind))
        self._stages.append(self._number(stage))
        self._steps.append(step)
        self._digests += bytes.fromhex(digest)

    def mark(self, seq: int) -> Mark:
        """The mark of a record, counted from 1."""
        at = seq - 1
        return Mark(
            place=self._places[at],
            seq=seq,
            kind=self.names[self._kinds[at]],
            stage=self.names[self._stages[at]],
            step=self._steps[at],
            digest=self._digests[at * _DIGEST_BYTES : (at + 1) * _DIGEST_BYTES].hex(),
        )

    def fitting(self, *, kind: str = "", stage: str = "", step: int | None = None) -> range | list[int]:
        """The numbers of the records of a kind, a stage and a step; "" and None = all."""
        found: range | list[int] = range(1, len(self) + 1)
        for wanted, column in ((kind, self._kinds), (stage, self._stages)):
            if wanted:
                number = self._known.get(wanted, -1)
                found = [seq for seq in found if column[seq - 1] == number]
        return found if step is None else [seq for seq in found if self._steps[seq - 1] == step]

    def kinds(self) -> list[str]:
        """Every type of event that was recorded, by name."""
        return sorted(self.names[number] for number in set(self._kinds))

    def stages(self) -> list[str]:
        """Every stage that records belong to, by name."""
        return sorted({self.names[number] for number in set(self._stages)} - {""})

    def _number(self, name: str) -> int:
        if name not in self._known:
            self._known[name] = len(self.names)
            self.names.append(name)
        return self._known[name]


class Reading:
    """One run; `advance` takes in what was added to its log since the last time.

    Attributes:
        index: of all records, oldest first.
        timeline: of its stages and steps.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = Lock()
        self.index = Index()
        self.timeline = Timeline()
        self._size, self._head, self._stage, self._step = 0, GENESIS, "", 0
        self._inode = 0
        self._folded: tuple[LogScan, RunState] | None = None
        self._audited: tuple[int, dict[str, Any]] = (0, {})

    def advance(self) -> None:
        """Read on to the end of the log; a last line that is being written is left for the next time.

        Raises:
            IntegrityError: it was altered, damaged or cut off.
        """
        if not self._size:
            refuse_cut(self.folder)
        with (self.folder / LOG).open("rb") as file:
            file.seek(self._size)
            for line in file:
                if not line.endswith(b"\n") or b"\x00" in line:
                    break
                self._see(line)

    def _see(self, line: bytes) -> None:
        try:
            self._head = check_link(line, seq=len(self.index) + 1, prev=self._head)
        except IntegrityError as exc:
            raise IntegrityError(f"{self.folder / LOG}: {exc.message}", hint=exc.hint) from exc
        value = json.loads(line)
        kind, data = str(value["type"]), value["data"]
        if kind in ("StageStarted", "StageSkipped", "StageReopened"):
            self._stage = str(data["stage"])
        step = data.get("step")
        self._step = step if isinstance(step, int) else self._step
        stage = str(data.get("stage") or self._stage)
        self.index.add(self._size, kind=kind, stage=stage, step=self._step, digest=self._head)
        self.timeline.see(kind, str(value["at"]), data)
        self._size += len(line)

    @property
    def state(self) -> RunState:
        """The state after the last record; from the run's snapshot where there is one, then record by record."""
        if self._folded is None:
            scan = LogScan(self.folder)
            self._folded = (scan, begin(scan, self.folder)[0])
        scan, state = self._folded
        if scan.length < len(self.index):
            for record in scan:
                state = evolve(state, record.event, at=record.at)
            self._folded = (scan, state)
        return state

    def audit(self) -> dict[str, Any]:
        """The audit of the run so far (views.audit): the one thing for which every record is folded."""
        if self._audited[0] != len(self.index):
            found = audit_value((record.at, record.hash, record.event) for record in LogScan(self.folder))
            self._audited = (len(self.index), found)
        return self._audited[1]

    def replaced(self) -> bool:
        """Whether the log is not the one any more that was read: another file, or a shorter one."""
        found = (self.folder / LOG).stat()
        before, self._inode = self._inode, found.st_ino
        return before not in (0, found.st_ino) or found.st_size < self._size

    def data_of(self, numbers: Iterable[int]) -> Iterator[tuple[Mark, str, Mapping[str, Any]]]:
        """Records by their numbers: mark, time stamp, and what they say.

        Raises:
            IntegrityError: one of them was altered since it was checked.
        """
        with (self.folder / LOG).open("rb") as file:
            for seq in numbers:
                mark = self.index.mark(seq)
                file.seek(mark.place)
                value = json.loads(file.readline())
                if value.get("hash") != mark.digest:
                    raise IntegrityError(
                        f"record {mark.seq} was altered while AgentForge read it", hint="see: agentforge verify"
                    )
                yield mark, str(value["at"]), value["data"]


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


PAGE_RECORDS = 100
_LINE_CHARACTERS = 220
_TELLING = (
    "name", "model", "status", "summary", "passed", "outcome", "reason", "question", "decision", "text", "finish",
    "request", "path", "branch", "message",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What is wanted of a trail.

    Attributes:
        kind: type of the event, "" = all.
        step: None = all.
        words: a text that the record holds, in any case of letters.
        newest_first: the order.
    """

    kind: str = ""
    stage: str = ""
    step: int | None = None
    words: str = ""
    newest_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some records of a trail.

    Attributes:
        number, pages: counted from 1.
        total: records that the filter lets through.
    """

    rows: tuple[Mapping[str, Any], ...]
    number: int
    pages: int
    total: int


def page_of(reading: Reading, wanted: Filter, *, number: int) -> Page:
    """One page of a trail; a number beyond the last page gives the last."""
    found = reading.index.fitting(kind=wanted.kind, stage=wanted.stage, step=wanted.step)
    if wanted.words:
        found = list(_holding(reading, found, wanted.words))
    if wanted.newest_first:
        found = found[::-1]
    pages = max(1, -(-len(found) // PAGE_RECORDS))
    number = min(max(1, number), pages)
    shown = found[(number - 1) * PAGE_RECORDS : number * PAGE_RECORDS]
    return Page(rows=tuple(rows_of(reading, shown)), number=number, pages=pages, total=len(found))


def rows_of(reading: Reading, numbers: Iterable[int]) -> Iterator[Mapping[str, Any]]:
    """What a list shows of records."""
    for mark, at, data in reading.data_of(numbers):
        row = {"seq": mark.seq, "at": at, "kind": mark.kind, "stage": mark.stage, "step": mark.step}
        yield {**row, "line": line_of(data)}


def line_of(data: Mapping[str, Any]) -> str:
    """What a record says, in one line."""
    told = [f"{name}={_short(data[name])}" for name in _TELLING if data.get(name) not in (None, "", [], {})]
    line = "  ".join(told)
    return line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS]}..."


def _holding(reading: Reading, numbers: Iterable[int], words: str) -> Iterator[int]:
    """Search what the records say as people read it, not as it is encoded."""
    sought = words.casefold()
    for mark, _, data in reading.data_of(numbers):
        if sought in json.dumps(data, ensure_ascii=False).casefold():
            yield mark.seq


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())[:_LINE_CHARACTERS]
