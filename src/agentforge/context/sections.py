"""What a context is made of: pieces of text and views of files, each with how much it matters. Pure data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from enum import IntEnum
from typing import cast

from agentforge.frozen import dataclass

Row = Mapping[str, object]

_BRIDGE = 3
"""Lines beside a wanted range that a view keeps, so that a short gap can be shown instead of named."""

_SECRET = "(not shown: a secret stands here)"


NEWEST = 1000
"""Within a level, the orders below it belong to what the model asked for in its last step."""


class Level(IntEnum):
    """How much something matters; what stands higher is served first.

    LAW: what the step is judged by (specification, findings, answers, frozen tests): never cut while anything else is shown.
    ASKED: what the model asked for. NAMED: the places that earlier artifacts named. LIKELY: candidates. SKETCH: orientation.
    """

    LAW = 0
    ASKED = 1
    NAMED = 2
    LIKELY = 3
    SKETCH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A named text.

    Attributes:
        order: within a level the lower is served first; equals share what room there is.
        note: how the model can see what was cut.
        foreign: it comes from files of the repository or from what their code printed: fenced as data, never an instruction.
        parts: (whole, short) texts that make up the text; where the whole has no room, the last ones become short.
        ends: a cut keeps the beginning alone; else beginning and end.
        printed: a program printed it: a cut keeps the lines between them that tell how it went, too.
        share: percent of all the room that it may take before everything else of its level was served.
        beyond: the level at which more than its share is wanted; None = its own, behind everything else.
    """

    name: str
    text: str
    level: Level = Level.NAMED
    order: int = 0
    note: str = ""
    foreign: bool = False
    parts: tuple[tuple[str, str], ...] = ()
    ends: bool = False
    printed: bool = False
    share: int = 100
    beyond: Level | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """A range of lines that should be seen.

    Attributes:
        first, last: from 1, both inclusive.
        order: see Piece.
        focus: the line that matters most; where the range has no room, the lines around it are shown. 0 = from the first on.
        why: who wants it, for people.
    """

    first: int
    last: int
    level: Level = Level.NAMED
    order: int = 0
    focus: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One file with the ranges of it that should be seen.

    Attributes:
        total: lines of the file.
        digest: of the file when it was read; two views of one digest show the same file.
        lines: the lines that may be shown, by number.
        wants: in the order of importance within their level.
        names: what is defined on a line, by the line's number; tells what a gap holds.
        state: words that go with the path in its heading.
    """

    path: str
    total: int
    digest: str
    lines: Mapping[int, str] = field(default_factory=dict)
    wants: tuple[Want, ...] = ()
    names: Mapping[int, str] = field(default_factory=dict)
    state: str = ""


Section = Piece | View


def view_of(
    path: str, text: str, wants: Iterable[Want], *, digest: str, names: Mapping[int, str] | None = None, state: str = ""
) -> View:
    """A view of a file's text; ranges are bounded by the file.

    Args:
        text: with `\\n` as line end.
        names: see View; those outside of the ranges are kept, too.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()  # a line end ends a line, it begins none
    count = len(lines)
    bounded = [_bounded(want, count) for want in wants if want.first <= count]
    kept = {
        number
        for want in bounded
        for number in range(max(1, want.first - _BRIDGE), min(count, want.last + _BRIDGE) + 1)
    }
    return View(
        path=path,
        total=count,
        digest=digest,
        lines={number: lines[number - 1] for number in sorted(kept)},
        wants=tuple(bounded),
        names=names or {},
        state=state,
    )


def _bounded(want: Want, count: int) -> Want:
    first, last = max(1, want.first), min(count, want.last)
    return want if (first, last) == (want.first, want.last) else replace(want, first=first, last=last)


def runs_of(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers as maximal ranges, both ends inclusive."""
    out: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if out and number == out[-1][1] + 1:
            out[-1] = (out[-1][0], number)
        else:
            out.append((number, number))
    return out


def without_secrets(section: Section, plain: Callable[[str], str]) -> Section:
    """A section as it may be recorded.

    Args:
        plain: takes the secrets out of a text. Where it takes out several lines at once, the lines around them go, too, so
            that the others keep their numbers.
    """
    if isinstance(section, Piece):
        parts = tuple((plain(whole), plain(short)) for whole, short in section.parts)
        return replace(section, text=plain(section.text), parts=parts)
    lines: dict[int, str] = {}
    for first, last in runs_of(section.lines):
        numbers = range(first, last + 1)
        rows = plain("\n".join(section.lines[number] for number in numbers)).split("\n")
        hidden = len(rows) != len(numbers)
        lines |= {number: _SECRET if hidden else rows[number - first] for number in numbers}
    return replace(section, lines=lines)


def row_of(section: Section) -> dict[str, object]:
    """A section as a JSON value."""
    if isinstance(section, Piece):
        row: dict[str, object] = {"name": section.name, "text": section.text, "level": int(section.level)}
        given = {name: getattr(section, name) for name in ("order", "note", "foreign", "ends")}
        row |= {name: value for name, value in given.items() if value}
        row |= {"share": section.share} if section.share != 100 else {}
        return row | ({"parts": [list(part) for part in section.parts]} if section.parts else {})
    return {
        "path": section.path,
        "total": section.total,
        "digest": section.digest,
        "state": section.state,
        "runs": [
            [first, [section.lines[number] for number in range(first, last + 1)]]
            for first, last in runs_of(section.lines)
        ],
        "wants": [[want.first, want.last, int(want.level), want.order, want.focus, want.why] for want in section.wants],
        "names": [[number, name] for number, name in section.names.items()],
    }


def section_of(row: Row) -> Section:
    """Read back what `row_of` made; a row of an older record ({name, text, limit, note}) is a piece."""
    if "path" not in row:
        parts = cast("list[list[str]]", row.get("parts") or [])
        return Piece(
            name=str(row["name"]),
            text=str(row["text"]),
            level=Level(cast("int", row.get("level", Level.NAMED))),
            order=cast("int", row.get("order", 0)),
            note=str(row.get("note", "")),
            foreign=row.get("foreign") is True,
            ends=row.get("ends") is True,
            share=cast("int", row.get("share", 100)),
            parts=tuple((whole, short) for whole, short in parts),
        )
    runs = cast("list[tuple[int, list[str]]]", row["runs"])
    wants = cast("list[tuple[int, int, int, int, int, str]]", row["wants"])
    return View(
        path=str(row["path"]),
        total=cast("int", row["total"]),
        digest=str(row["digest"]),
        state=str(row["state"]),
        lines={number: line for first, lines in runs for number, line in enumerate(lines, start=first)},
        wants=tuple(
            Want(first=first, last=last, level=Level(level), order=order, focus=focus, why=why)
            for first, last, level, order, focus, why in wants
        ),
        names=dict(cast("list[tuple[int, str]]", row["names"])),
    )
