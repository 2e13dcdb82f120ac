"""Text edits that a checker offers: which of them can be made together, and making them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replace a part of a file.

    Attributes:
        start, end: offsets in characters, end exclusive.
    """

    start: int
    end: int
    text: str


def applied(text: str, repairs: Iterable[Sequence[Edit]]) -> str:
    """Make repairs, each of one or more edits, in a text; one that touches what an earlier one changed is left out."""
    chosen: list[Edit] = []
    for repair in repairs:
        if all(not _touches(edit, other) for edit in repair for other in chosen):
            chosen += [edit for edit in repair if edit not in chosen]
    for edit in sorted(chosen, key=lambda one: (one.start, one.end), reverse=True):
        text = f"{text[: edit.start]}{edit.text}{text[edit.end :]}"
    return text


def offset_of(text: str, *, row: int, column: int) -> int:
    """Turn a row and a column, both from 1, into an offset; a place behind the end is the end."""
    lines = text.split("\n")
    if row > len(lines):
        return len(text)
    before = sum(len(line) + 1 for line in lines[: row - 1])
    return min(before + column - 1, len(text))


def _touches(edit: Edit, other: Edit) -> bool:
    """Whether two edits change the same place; the same edit asked for twice does not."""
    return (
        edit != other and edit.start < max(other.end, other.start + 1) and other.start < max(edit.end, edit.start + 1)
    )
