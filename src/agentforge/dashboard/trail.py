"""The trail of a run in pages: which records a filter lets through, and what a line says of each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from agentforge.dashboard.reading import Mark, Reading

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
    marks = [mark for mark in reading.marks if _fits(mark, wanted)]
    if wanted.words:
        marks = list(_holding(reading, marks, wanted.words))
    if wanted.newest_first:
        marks.reverse()
    pages = max(1, -(-len(marks) // PAGE_RECORDS))
    number = min(max(1, number), pages)
    shown = marks[(number - 1) * PAGE_RECORDS : number * PAGE_RECORDS]
    rows = tuple(
        {
            "seq": mark.seq,
            "at": mark.at,
            "kind": mark.kind,
            "stage": mark.stage,
            "step": mark.step,
            "line": line_of(data),
        }
        for mark, data in reading.data_of(shown)
    )
    return Page(rows=rows, number=number, pages=pages, total=len(marks))


def line_of(data: Mapping[str, Any]) -> str:
    """What a record says, in one line."""
    told = [f"{name}={_short(data[name])}" for name in _TELLING if data.get(name) not in (None, "", [], {})]
    line = "  ".join(told)
    return line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS]}..."


def _fits(mark: Mark, wanted: Filter) -> bool:
    return (
        wanted.kind in ("", mark.kind)
        and wanted.stage in ("", mark.stage)
        and (wanted.step is None or wanted.step == mark.step)
    )


def _holding(reading: Reading, marks: list[Mark], words: str) -> Iterator[Mark]:
    """Search what the records say as people read it, not as it is encoded."""
    sought = words.casefold()
    for mark, data in reading.data_of(marks):
        if sought in json.dumps(data, ensure_ascii=False).casefold():
            yield mark


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())[:_LINE_CHARACTERS]
