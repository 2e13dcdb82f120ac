"""The trail of a run in pages: which records a filter lets through, and what a line says of each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from agentforge.dashboard.reading import Reading

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
