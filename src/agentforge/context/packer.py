"""The one packer: sections go in, and as much of them as a room in tokens holds comes out, what matters most first. Pure.

Levels are served in their order, and within a level the lower order first; sections of the same order share the room fairly: the
small ones are whole before a large one gets more than its share. A view is one text per file: its ranges are united, numbered,
never repeated, and what lies between them is named in one short line. What found no room is told, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import cast

from agentforge.context.file_view import GAP, bridge, fenced, inner_gaps, line_costs, ranges, view_text
from agentforge.context.printed import cut_printed
from agentforge.context.sections import Level, Piece, Section, View, Want
from agentforge.context.truncation import beginning, split, whole_text, with_short_parts
from agentforge.context.unshown import (
    CALL,
    Left,
    available,
    left_of_piece,
    left_of_view,
    room_to_tell,
    stands_above,
    unshown_text,
)
from agentforge.frozen import dataclass
from agentforge.safety.text.hygiene import clean
from agentforge.tokens import count_tokens, cut_middle

_FENCE = 28
"""Tokens of the two lines around what is foreign."""
_HEADING = 6
_AGAIN = 5
"""Tokens of a further such line of the same view."""
_LEAST_PIECE = 48
_LEAST_LINES = 3
_WORDS_ROOM = 150
"""Tokens that may tell what the gaps of the views hold."""
_GOES_ON = "... (it goes on below) ..."


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedPage:
    """A part of a context.

    Attributes:
        tokens: what the text costs.
        shown: the lines of files that it shows, by path and number.
        digests: of these files.
        left: what was wanted and is not shown.
        rest: the sections of what is not shown, for a page that follows.
    """

    text: str
    tokens: int
    shown: Mapping[str, Mapping[int, str]]
    digests: Mapping[str, str]
    left: tuple[Left, ...]
    rest: tuple[Section, ...]


NOTHING = PackedPage(text="", tokens=0, shown={}, digests={}, left=(), rest=())


def fill(
    sections: Sequence[Section],
    *,
    room: int,
    least: Level = Level.SKETCH,
    last: int | None = None,
    above: PackedPage | None = None,
) -> PackedPage:
    """Fill a page.

    Args:
        room: tokens.
        last: the last order of that level that may stand on it; None = all of them.
        least: the last level that may stand on the page; what matters less is left to the page that follows.
        above: the page that stands before this one: its lines are not repeated. None = another page follows, and what is
            cut here goes on there.
    """
    filling = _Filling([_without(_cleaned(one), above) for one in united(sections)], room=room, goes_on=above is None)
    demands = sorted(
        (
            demand
            for demand in filling.demands()
            if demand.level < least or (demand.level == least and (last is None or demand.order <= last))
        ),
        key=lambda demand: (demand.level, demand.order),
    )
    for _, group in groupby(demands, key=lambda demand: (demand.level, demand.order)):
        filling.serve(list(group))
    return filling.page()


def law_tokens(sections: Iterable[Section]) -> int:
    """What showing the law of some sections whole would cost."""
    filling = _Filling(list(map(_cleaned, united(sections))), room=0, goes_on=True)
    return sum(filling.cost(demand) for demand in filling.demands() if demand.level == Level.LAW)


def united(sections: Iterable[Section]) -> list[Section]:
    """One view per file: of a file that is there twice the ranges are united; if it changed in between, the first stays."""
    out: list[Section] = []
    places: dict[str, int] = {}
    for section in sections:
        known = places.get(section.path) if isinstance(section, View) else None
        if known is None:
            if isinstance(section, View):
                places[section.path] = len(out)
            out.append(section)
            continue
        first = out[known]
        assert isinstance(first, View) and isinstance(section, View)
        if first.digest == section.digest:
            lines, names = {**first.lines, **section.lines}, {**first.names, **section.names}
            out[known] = replace(first, lines=lines, wants=(*first.wants, *section.wants), names=names)
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class _Demand:
    """A piece, or a range of a view, that wants to be shown."""

    place: int
    level: Level
    order: int
    want: Want | None = None
    share: int = 100


def _beyond_its_share(first: _Demand, piece: Piece) -> _Demand:
    """More of a piece: when everything else of its level was served, or as the first of what matters less."""
    if piece.beyond is None:
        return replace(first, order=(1 << 20) + piece.order, share=100)
    return replace(first, level=piece.beyond, order=piece.order - (1 << 20), share=100)


class _Filling:
    """What stands on a page so far, and the room that is left."""

    def __init__(self, sections: list[Section], *, room: int, goes_on: bool) -> None:
        self._sections = sections
        self._told = 0 if goes_on else room_to_tell(sections, room)
        self._all = self._room = room - self._told
        self._kept = 0
        self._goes_on = goes_on
        self._lines: dict[int, set[int]] = {}
        self._texts: dict[int, str] = {}
        self._costs = [line_costs(one) if isinstance(one, View) else {} for one in sections]
        self._rest: dict[int, Section] = {}
        self._cut_views: set[int] = set()

    def demands(self) -> Iterable[_Demand]:
        """Everything that is wanted."""
        for place, section in enumerate(self._sections):
            if isinstance(section, View):
                for want in section.wants:
                    yield _Demand(place=place, level=want.level, order=want.order, want=want)
            elif section.text.strip() or section.parts:
                first = _Demand(place=place, level=section.level, order=section.order, share=section.share)
                yield first
                if section.share < 100:
                    yield _beyond_its_share(first, section)

    def serve(self, group: list[_Demand]) -> None:
        """Show demands that share what room there is, the cheapest first."""
        bounds = [self._all * demand.share // 100 for demand in group]
        waiting = sorted((min(self.cost(demand), bounds[number]), number) for number, demand in enumerate(group))
        for served, (_, number) in enumerate(waiting):
            fair = self._room // (len(waiting) - served)
            self._show(group[number], min(fair, bounds[number]))

    def cost(self, demand: _Demand) -> int:
        """What showing a demand whole would cost beyond what is shown."""
        section = self._sections[demand.place]
        if isinstance(section, Piece):
            before = self._texts.get(demand.place)
            return _frame(section) + count_tokens(whole_text(section)) - self._spent(section, before)
        assert demand.want is not None
        known = self._lines.get(demand.place, set())
        return self._view_cost(demand.place, known | available(section, demand.want)) - self._view_cost(
            demand.place, known
        )

    def _show(self, demand: _Demand, allowed: int) -> None:
        section = self._sections[demand.place]
        if isinstance(section, Piece):
            self._show_piece(section, demand, allowed)
            return
        assert demand.want is not None
        known = self._lines.get(demand.place, set())
        wanted = available(section, demand.want)
        if not wanted - known:
            return
        whole = self.cost(demand) <= allowed
        words = _AGAIN if demand.place in self._cut_views else CALL
        taken = known | wanted if whole else self._part(demand, allowed - words) if _may_be_cut(demand) else known
        self._room -= self._view_cost(demand.place, taken) - self._view_cost(demand.place, known)
        if taken - known:
            self._lines[demand.place] = taken
            if not wanted <= taken:  # the line that says how to see the rest
                self._cut_views.add(demand.place)
                self._room -= words
                self._kept += words

    def _part(self, demand: _Demand, allowed: int) -> set[int]:
        """As many lines of a range as fit: from its first line on, or around the line that matters."""
        view, want = self._sections[demand.place], demand.want
        assert isinstance(view, View) and want is not None
        known = self._lines.get(demand.place, set())
        numbers = [number for number in _outward(want) if number in view.lines]
        before, low, high = self._view_cost(demand.place, known), 0, len(numbers)
        while low < high:
            middle = (low + high + 1) // 2
            fits = self._view_cost(demand.place, known | set(numbers[:middle])) - before <= allowed
            low, high = (middle, high) if fits else (low, middle - 1)
        part = set(numbers[:low])
        return known | part if len(part - known) >= _LEAST_LINES else known

    def _view_cost(self, place: int, numbers: set[int]) -> int:
        view, costs = self._sections[place], self._costs[place]
        assert isinstance(view, View)
        if not numbers:
            return 0
        gaps = [bridge(costs, first, last) for first, last in inner_gaps(numbers)]
        named = sum(GAP if cost is None else cost for cost in gaps)
        return _frame(view) + named + sum(costs[number] for number in numbers)

    def _show_piece(self, piece: Piece, demand: _Demand, allowed: int) -> None:
        before = self._texts.get(demand.place)
        if before is not None and before == whole_text(piece):
            return
        budget = allowed + self._spent(piece, before) - _frame(piece)
        whole = whole_text(piece)
        if count_tokens(whole) <= budget:
            text, rest = whole, cast("Section | None", None)
        elif budget < _LEAST_PIECE:
            text, rest = "", piece
        else:
            text, rest = self._cut(piece, budget)
        if not text.strip() or (before is not None and count_tokens(text) <= count_tokens(before)):
            text = before or ""
        self._room -= self._spent(piece, text or None) - self._spent(piece, before)
        if text:
            self._texts[demand.place] = text
        if rest is not None:
            self._rest[demand.place] = rest
        else:
            self._rest.pop(demand.place, None)

    def _spent(self, piece: Piece, text: str | None) -> int:
        return 0 if text is None else _frame(piece) + count_tokens(text)

    def _cut(self, piece: Piece, limit: int) -> tuple[str, Section | None]:
        """What of a piece fits, and what is left for the page that follows."""
        if piece.parts:
            text, left = with_short_parts(piece, limit)
            if count_tokens(text) <= limit:
                return text, replace(piece, name=f"{piece.name}, continued", text="", parts=left)
        if piece.ends:
            return beginning(piece, limit), None
        if self._goes_on and piece.level == Level.LAW:
            head, tail = split(whole_text(piece), limit - 10)
            rest = replace(piece, name=f"{piece.name}, continued", text=tail, parts=())
            return (f"{head}\n{_GOES_ON}", rest) if head else ("", piece)
        cut = cut_printed if piece.printed else cut_middle
        return cut(whole_text(piece), limit=limit, note=piece.note), None

    def page(self) -> PackedPage:
        """What was filled, as a text."""
        texts: list[str] = []
        shown: dict[str, Mapping[int, str]] = {}
        digests: dict[str, str] = {}
        empty = [
            one for place, one in enumerate(self._sections) if not self._texts.get(place) and not self._lines.get(place)
        ]
        unshown = unshown_text(empty, room=self._told)
        words = min(self._room, _WORDS_ROOM) + self._kept + (0 if unshown else self._told)
        for place, section in enumerate(self._sections):
            if isinstance(section, Piece):
                if place in self._texts:
                    texts.append(f"## {section.name}\n{fenced(self._texts[place], foreign=section.foreign)}\n")
                continue
            numbers = self._bridged(place)
            if not numbers and not stands_above(section):
                continue
            missing = set() if self._goes_on else _wanted(section, Level.NAMED) - numbers
            text, spent = view_text(section, numbers, missing=missing, room=words)
            words -= spent
            texts.append(text)
            shown[section.path] = {number: section.lines[number] for number in numbers}
            digests[section.path] = section.digest
        text = "".join(texts) + unshown
        return PackedPage(
            text=text,
            tokens=count_tokens(text),
            shown=shown,
            digests=digests,
            left=tuple(self._left()),
            rest=tuple(self._remaining()),
        )

    def _bridged(self, place: int) -> set[int]:
        """The taken lines with the short gaps that cost no more than the line that would name them."""
        numbers, costs = set(self._lines.get(place, ())), self._costs[place]
        for first, last in inner_gaps(numbers):
            if bridge(costs, first, last) is not None:
                numbers |= set(range(first, last + 1))
        return numbers

    def _left(self) -> Iterable[Left]:
        for place, section in enumerate(self._sections):
            if isinstance(section, View):
                yield from left_of_view(section, self._bridged(place), self._costs[place])
        for place, section in enumerate(self._sections):
            if isinstance(section, Piece):
                yield from left_of_piece(section, self._texts.get(place, ""))

    def _remaining(self) -> Iterable[Section]:
        for place, section in enumerate(self._sections):
            if isinstance(section, View):
                yield section
            elif place in self._rest:
                yield self._rest[place]
            elif place not in self._texts and whole_text(section).strip():
                yield section


def _frame(section: Section) -> int:
    """What a section costs beside its own text."""
    if isinstance(section, Piece):
        return count_tokens(section.name) + _HEADING + (_FENCE if section.foreign else 0)
    return count_tokens(f"{section.path} {section.state}") + 2 * _HEADING + _FENCE


def _may_be_cut(demand: _Demand) -> bool:
    """Half of a function that nobody named tells little; what was asked for or named is shown as far as there is room."""
    return demand.level <= Level.NAMED or (demand.want is not None and demand.want.focus > 0)


def _wanted(view: View, least: Level) -> set[int]:
    return {number for want in view.wants if want.level <= least for number in available(view, want)}


def _outward(want: Want) -> list[int]:
    """The numbers of a range in the order in which they are wanted."""
    numbers = list(range(want.first, want.last + 1))
    if not want.first <= want.focus <= want.last:
        return numbers
    return sorted(numbers, key=lambda number: (abs(number - want.focus), number))


def _without(section: Section, above: PackedPage | None) -> Section:
    """A view without the lines that stand above; where the model asked for some of them, its heading says so."""
    if not isinstance(section, View) or above is None or above.digests.get(section.path) != section.digest:
        return section
    there = above.shown[section.path]
    asked = {
        number
        for want in section.wants
        if want.level == Level.ASKED
        for number in range(want.first, want.last + 1)
        if number in there
    }
    state = f"lines {ranges(asked)} stand above, unchanged" if asked else "more of it"
    lines = {number: line for number, line in section.lines.items() if number not in there}
    return replace(section, lines=lines, state=state)


def _cleaned(section: Section) -> Section:
    """What is foreign without terminal escapes and signs that hide; a view keeps its numbers."""
    if isinstance(section, View):
        return replace(section, lines={number: clean(line) for number, line in section.lines.items()})
    return replace(section, text=clean(section.text.rstrip())) if section.foreign else section
