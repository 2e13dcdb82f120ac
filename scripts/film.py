"""Turn a terminal cast (asciicast version 2) into an animated SVG that plays without scripts: python scripts/film.py CAST SVG."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

_CELL, _LINE, _PAD, _BAR = 8.4, 18, 14, 30
_SHORTEST_S, _LAST_S = 0.12, 8.0
"""A frame that stays for less is left out; the last one stays this long before the film begins again."""
_COLOURS = {
    "red": "#f87171",
    "green": "#4ade80",
    "brown": "#facc15",
    "blue": "#60a5fa",
    "magenta": "#e879f9",
    "cyan": "#22d3ee",
}
_TEXT, _GROUND = "#e2e8f0", "#0f172a"


class Run(NamedTuple):
    """Neighbouring cells of one look: column of the first, text, colour, bold."""

    column: int
    text: str
    colour: str
    bold: bool


Frame = tuple[tuple[Run, ...], ...]
"""The rows of a screen."""


def film(cast: str) -> str:
    """Draw a cast as one SVG: the screens stand below each other on a strip, and the strip jumps from one to the next.

    Whoever asked their system for less motion sees the last screen.
    """
    head, *events = (json.loads(line) for line in cast.splitlines())
    shots = _shots(head, events)
    height = head["height"] * _LINE
    total = sum(seconds for seconds, _ in shots)
    jumps, passed = [], 0.0
    for number, (seconds, _) in enumerate(shots):
        jumps.append(f"{100 * passed / total:.3f}%{{transform:translateY({-number * height}px)}}")
        passed += seconds
    rows: dict[tuple[Run, ...], str] = {}
    strip = []
    for number, (_, frame) in enumerate(shots):
        for line, runs in enumerate(frame):
            if runs:
                name = rows.setdefault(runs, f"r{len(rows)}")
                strip.append(f'<use href="#{name}" y="{number * height + line * _LINE}"/>')
    wide = head["width"] * _CELL + 2 * _PAD
    style = (
        f"text{{white-space:pre}}#strip{{animation:film {total:.2f}s step-end infinite}}"
        f"@keyframes film{{{''.join(jumps)}}}"
        f"@media(prefers-reduced-motion:reduce){{#strip{{animation:none;transform:translateY({-(len(shots) - 1) * height}px)}}}}"
    )
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {height + _BAR + _PAD}" '
            f'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" fill="{_TEXT}" role="img" '
            f'aria-label="{escape(head["title"])}"><style>{style}</style>',
            f'<rect width="100%" height="100%" rx="8" fill="{_GROUND}"/>',
            *(
                f'<circle cx="{20 + 18 * n}" cy="16" r="5.5" fill="{c}"/>'
                for n, c in enumerate(("#f87171", "#facc15", "#4ade80"))
            ),
            "<defs>",
            *(f'<g id="{name}">{"".join(map(_drawn, runs))}</g>' for runs, name in rows.items()),
            "</defs>",
            f'<svg x="{_PAD}" y="{_BAR}" width="{head["width"] * _CELL:g}" height="{height}"><g id="strip">',
            *strip,
            "</g></svg></svg>\n",
        )
    )


def _shots(head: dict[str, Any], events: Sequence[tuple[float, str, str]]) -> list[tuple[float, Frame]]:
    """The screens that differ, each with the seconds that it stays; a wait is as long as the cast allows."""
    import pyte

    screen = pyte.Screen(head["width"], head["height"])
    stream = pyte.Stream(screen)
    shots: list[tuple[float, Frame]] = []
    for (_, _, text), after in zip(events, _waits(events), strict=True):
        stream.feed(text)
        stays, frame = min(after, head["idle_time_limit"]), _frame(screen)
        if shots and (shots[-1][1] == frame or shots[-1][0] < _SHORTEST_S):
            stays += shots.pop()[0]
        shots.append((stays, frame))
    return [*shots[:-1], (_LAST_S, shots[-1][1])]


def _waits(events: Sequence[tuple[float, str, str]]) -> list[float]:
    starts = [at for at, _, _ in events]
    return [after - at for at, after in zip(starts, [*starts[1:], starts[-1]], strict=True)]


def _frame(screen: Any) -> Frame:
    return tuple(tuple(_runs(screen, row)) for row in range(screen.lines))


def _runs(screen: Any, row: int) -> Iterator[Run]:
    """A row in pieces of one look, without the blanks between and behind them."""
    cells = [screen.buffer[row][column] for column in range(screen.columns)]
    for (colour, bold), run in groupby(enumerate(cells), key=lambda cell: (cell[1].fg, cell[1].bold)):
        piece = list(run)
        text = "".join(cell.data for _, cell in piece)
        if text.strip():
            yield Run(piece[0][0] + len(text) - len(text.lstrip()), text.strip(), _COLOURS.get(colour, _TEXT), bold)


def _drawn(run: Run) -> str:
    """The text with its width said, so that columns stand below each other in any font."""
    look = (f' fill="{run.colour}"' if run.colour != _TEXT else "") + (' font-weight="600"' if run.bold else "")
    wide = f'textLength="{len(run.text) * _CELL:g}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{run.column * _CELL:g}" y="13" {wide}{look}>{escape(run.text)}</text>'


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(film(Path(sys.argv[1]).read_text("utf-8")), "utf-8")
