"""What a document is made of: headings, texts, tables. Each format renders these few blocks and knows nothing of audits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from agentforge.frozen import dataclass

Tone = Literal["", "good", "bad", "muted"]
Kind = Literal["text", "code", "number", "verdict"]

_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading; level 1 is the document's title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditText:
    """A paragraph."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Somebody's own words, line by line."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Labels with their values."""

    rows: tuple[tuple[str, str], ...]
    code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table. `share` is its part of the width."""

    title: str
    kind: Kind = "text"
    share: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table; a cell may hold several lines."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One step of a plot."""

    label: str
    group: str
    value: int
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Bars with a line of the sum over them."""

    title: str
    bars: tuple[Bar, ...]
    unit: str
    total_unit: str


Block = Heading | AuditText | Quote | Facts | Table | Plot


def visible(text: object) -> str:
    """Text that shows all it holds: control, direction and zero-width characters become `\\u....`."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", "" if text is None else str(text))


def facts(*rows: tuple[str, object], code: bool = False) -> Facts:
    """Facts out of anything; empty values are left out."""
    return Facts(rows=tuple((label, visible(value)) for label, value in rows if value not in (None, "")), code=code)


def table(columns: Sequence[Column], rows: Sequence[Sequence[object]]) -> Table:
    """A table out of anything."""
    return Table(columns=tuple(columns), rows=tuple(tuple(visible(cell) for cell in row) for row in rows))
