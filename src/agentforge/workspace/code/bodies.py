"""Which definitions a request is most likely about, over all likely files: what fits it, and what those that fit it speak of."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agentforge.frozen import dataclass
from agentforge.workspace.code.relevance import BESIDE, RelevantFile, is_beside
from agentforge.workspace.code.symbols import Symbol, of_product, outline_of, read_source

_OF_FILE = 0.3  # what the likeliest file adds to what fits in it, against the definition that fits best
_SPOKEN = 0.2  # what a definition hands on to those that it speaks of, all together by the root of their number
_SEEDS, _HOPS, _CONSTANT_HOPS = 12, 2, 4
_MOST_ALIKE = 3  # definitions of one name; more say nothing
_WORD = re.compile(r"[A-Za-z_$][\w$]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A definition that the request may be about.

    Attributes:
        weight: larger is likelier; comparable within one list only.
        speaks_of: constants of its file that it names, and those that these name.
        spots: its lines on which words of the request stand, those that tell most first.
    """

    symbol: Symbol
    weight: float
    speaks_of: tuple[Symbol, ...] = ()
    spots: tuple[int, ...] = ()


class _Definition:
    """A definition of a likely file with the names that stand in it."""

    def __init__(self, symbol: Symbol, rows: Sequence[str], fit: float, place: int) -> None:
        self.symbol, self.fit, self.place = symbol, fit, place
        self.names = dict.fromkeys(_WORD.findall("\n".join(rows[symbol.line - 1 : symbol.end_line])))

    def holds(self, other: _Definition) -> bool:
        return _holds(self.symbol, other.symbol)


def bodies(root: Path, ranked: Sequence[RelevantFile]) -> list[Body]:
    """List the definitions of likely files that fit a request, and those that these speak of, the likeliest first.

    Args:
        ranked: files as `rank` gives them, the best first.
    """
    known = [one for place, file in enumerate(ranked) for one in _definitions(root, file, place)]
    weights = _handed_on(known)
    best, top = max((one.fit for one in known), default=0.0), max((file.score for file in ranked), default=0.0) or 1.0
    for number, one in enumerate(known):
        if one.fit > 0:
            weights[number] += _OF_FILE * best * ranked[one.place].score / top
    order = sorted((number for number in range(len(known)) if weights[number] > 0), key=lambda number: -weights[number])
    constants = _constants(known)
    return [
        Body(
            symbol=known[number].symbol,
            weight=weights[number],
            speaks_of=tuple(_spoken_constants(known[number], constants)),
            spots=_spots(known[number].symbol, ranked[known[number].place].told),
        )
        for number in order
    ]


def _definitions(root: Path, file: RelevantFile, place: int) -> Iterator[_Definition]:
    text = read_source(root, file.path)
    if text is None:
        return
    fits = {(one.qualified, one.line): fit for one, fit in zip(file.symbols, file.fits, strict=True)}
    rows = text.split("\n")
    share = BESIDE if is_beside(file.path) else 1.0
    for symbol in of_product(outline_of(file.path, text).symbols):
        yield _Definition(symbol, rows, share * fits.get((symbol.qualified, symbol.line), 0.0), place)


def _handed_on(known: Sequence[_Definition]) -> list[float]:
    """What each definition weighs with what the best ones hand on to those that they speak of."""
    weights = [one.fit for one in known]
    named: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(known):
        named[one.symbol.name].append(number)
    for _ in range(_HOPS):
        gained: dict[int, float] = {}
        for giver in sorted(range(len(known)), key=lambda number: -weights[number])[:_SEEDS]:
            spoken = list(_spoken(giver, known, named))
            for taker, share in spoken:
                gain = _SPOKEN * weights[giver] * share / len(spoken) ** 0.5
                gained[taker] = max(gained.get(taker, 0.0), gain)
        for taker, gain in gained.items():
            weights[taker] += gain
    return weights


def _spoken(giver: int, known: Sequence[_Definition], named: Mapping[str, list[int]]) -> Iterator[tuple[int, float]]:
    """The definitions of which another one speaks, those of its own file first, and how sure that is."""
    own = known[giver]
    for name in own.names:
        if name == own.symbol.name or name.startswith("__"):
            continue
        found = [
            number
            for number in named.get(name, ())
            if number != giver and not own.holds(known[number]) and not known[number].holds(own)
        ]
        here = [number for number in found if known[number].place == own.place] or found
        if len(here) <= _MOST_ALIKE:
            yield from ((number, 1 / len(here)) for number in here)


def _constants(known: Sequence[_Definition]) -> dict[tuple[str, str], _Definition]:
    found = [one for one in known if one.symbol.kind == "variable" and not one.symbol.parent]
    return {(one.symbol.path, one.symbol.name): one for one in reversed(found)}


def _spoken_constants(one: _Definition, constants: Mapping[tuple[str, str], _Definition]) -> Iterator[Symbol]:
    """The constants of a definition's file that it names, and those that these name, nearest first."""
    seen, waiting = {one.symbol.name}, [one]
    for _ in range(_CONSTANT_HOPS):
        found = []
        for name in dict.fromkeys(name for speaker in waiting for name in speaker.names):
            constant = constants.get((one.symbol.path, name))
            if constant is not None and name not in seen:
                seen.add(name)
                found.append(constant)
                yield constant.symbol
        waiting = found


def _spots(symbol: Symbol, told: Mapping[int, float]) -> tuple[int, ...]:
    inside = [line for line in told if symbol.line < line <= symbol.end_line]
    return tuple(sorted(inside, key=lambda line: (-told[line], line)))


def _holds(outer: Symbol, inner: Symbol) -> bool:
    return outer.path == inner.path and outer.line <= inner.line and inner.end_line <= outer.end_line
