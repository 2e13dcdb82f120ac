"""What was wanted and is not shown: rows for the trail, a few words for the model about what it asked for. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agentforge.context.file_view import ranges
from agentforge.context.sections import Level, Piece, Section, View, Want
from agentforge.context.truncation import whole_text
from agentforge.frozen import dataclass
from agentforge.tokens import count_tokens

CALL = 24
"""Tokens of the line that says how to see what was wanted and left out."""
_HEADING = "## no room in this step for (ask again for less at once)\n"
_MOST_TOLD = 6
_RANGES_TOLD = 12
_NAME = 60  # letters


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What was wanted and is not shown.

    Attributes:
        name: of the piece, or the path of the file.
        lines: ranges of the file, `40-95, 120-130`; "" for a piece.
        level: how much it mattered, in lower case.
        tokens: what it would have cost.
        why: who wanted it, or that it was cut.
    """

    name: str
    lines: str
    level: str
    tokens: int
    why: str

    @property
    def row(self) -> dict[str, object]:
        """It as a JSON value."""
        return {name: getattr(self, name) for name in ("name", "lines", "level", "tokens", "why")}


def left_of_view(view: View, shown: set[int], costs: Mapping[int, int]) -> Iterator[Left]:
    """The lines that were wanted and are not shown, by level and reason.

    Args:
        costs: tokens of each line.
    """
    found: dict[tuple[Level, str], set[int]] = {}
    told = set(shown)
    for want in sorted(view.wants, key=lambda want: want.level):
        missing = available(view, want) - told
        found.setdefault((want.level, want.why), set()).update(missing)
        told |= missing
    for (level, why), numbers in found.items():
        cost, lines = sum(costs[number] for number in numbers), ranges(numbers, most=_RANGES_TOLD)
        if numbers:
            yield Left(name=view.path, lines=lines, level=level.name.lower(), tokens=cost, why=why)


def left_of_piece(piece: Piece, shown: str) -> Iterator[Left]:
    """What a piece lost."""
    whole = whole_text(piece)
    lost = count_tokens(whole) - count_tokens(shown)
    if shown != whole and lost > 0 and whole.strip():
        why = "cut to fit" if shown else "no room"
        yield Left(name=piece.name, lines="", level=piece.level.name.lower(), tokens=lost, why=why)


def room_to_tell(sections: Sequence[Section], room: int) -> int:
    """Tokens that are kept for naming what was asked for and finds no room; what was asked for alone finds some."""
    asked = sum(_is_asked(one) for one in sections)
    return min(CALL * min(asked, _MOST_TOLD), room // 10) if asked > 1 else 0


def unshown_text(sections: Iterable[Section], *, room: int) -> str:
    """The names of sections that were asked for and are not shown, the latest first, as many as there is room for."""
    named = sorted((_order(one), _named(one)) for one in sections if _is_asked(one) and not stands_above(one))
    text = ""
    for _, name in named:
        longer = f"{text or _HEADING}- {name}\n"
        if count_tokens(longer) > room:
            break
        text = longer
    return text


def available(view: View, want: Want) -> set[int]:
    """The numbers of a range that the view can show."""
    return {number for number in range(want.first, want.last + 1) if number in view.lines}


def stands_above(section: Section) -> bool:
    """Whether lines of a view stand on the page before, so that its heading alone says something."""
    return isinstance(section, View) and "stand above" in section.state


def _is_asked(section: Section) -> bool:
    if isinstance(section, Piece):
        return section.level == Level.ASKED and bool(whole_text(section).strip())
    return any(want.level == Level.ASKED for want in section.wants)


def _order(section: Section) -> int:
    if isinstance(section, Piece):
        return section.order
    return min(want.order for want in section.wants if want.level == Level.ASKED)


def _named(section: Section) -> str:
    """A piece by its name, a view by the lines that were asked for."""
    if isinstance(section, Piece):
        return section.name if len(section.name) <= _NAME else f"{section.name[: _NAME - 4]} ..."
    wants = [want for want in section.wants if want.level == Level.ASKED]
    return f"{section.path} {ranges({number for want in wants for number in available(section, want)}, most=2)}"
