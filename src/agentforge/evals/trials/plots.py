"""The plots of an evaluation as SVG: shares of verdicts with their intervals, and sums by stage. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from agentforge.evals.trials.verdict import VERDICTS

COLOURS = {"right": "#54a24b", "wrong": "#e45756", "escalated": "#f2b134", "failed": "#9d9da1"}
_PAIR = ("#4c78a8", "#b8cbe0")
_WIDTH, _LEFT, _BAR, _GAP = 720, 200, 14, 6
_STYLE = 'font-family="system-ui,sans-serif" font-size="11" fill="currentColor"'

Row = Mapping[str, Any]


def verdict_bars(models: Sequence[tuple[str, Row]]) -> str:
    """Draw, for each model and verdict, the share of tasks as a bar and its confidence interval as a line over it."""
    height = len(models) * (len(VERDICTS) * (_BAR + _GAP) + 26) + 10
    drawn, top = [], 4
    for model, counts in models:
        drawn.append(_text(0, top + 12, model))
        top += 20
        for name in VERDICTS:
            drawn.append(_share(name, counts[name], top))
            top += _BAR + _GAP
        top += 6
    return _svg("shares of verdicts", height, drawn)


def stage_bars(
    title: str, stages: Sequence[Row], names: tuple[str, str], *, lost: Mapping[str, int] | None = None
) -> str:
    """Draw two sums of each stage side by side, and beside them how many tasks it lost."""
    most = max((float(stage[name]) for stage in stages for name in names), default=0.0) or 1.0
    drawn, top = [_text(0, 14, f"{title} ({', '.join(name.replace('_', ' ') for name in names)})")], 24
    for stage in stages:
        told = f", lost {lost[stage['name']]}" if lost and stage["name"] in lost else ""
        drawn.append(_text(0, top + _BAR, f"{stage['name']}{told}"))
        for number, name in enumerate(names):
            wide = (_WIDTH - _LEFT - 90) * float(stage[name]) / most
            place = top + number * (_BAR // 2 + 1)
            drawn.append(_rect(_LEFT, place, wide, _BAR // 2, _PAIR[number]))
        values = " / ".join(f"{float(stage[name]):,.1f}".rstrip("0").rstrip(".") for name in names)
        drawn.append(
            _text(
                _LEFT + (_WIDTH - _LEFT - 90) * max(float(stage[name]) for name in names) / most + 6,
                top + _BAR - 2,
                values,
            )
        )
        top += _BAR + 2 * _GAP
    return _svg(title, top + 6, drawn)


def _share(name: str, rate: Row, top: int) -> str:
    wide = _WIDTH - _LEFT - 60
    share = rate["rate"] or 0.0
    middle = top + _BAR / 2
    low, high = _LEFT + wide * rate["low"], _LEFT + wide * rate["high"]
    return "".join(
        (
            _text(16, top + _BAR - 3, name),
            _rect(_LEFT, top, wide * share, _BAR, COLOURS[name]),
            f'<path d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 4}v8M{high:.1f} {middle - 4}v8" stroke="currentColor" '
            'fill="none" stroke-opacity="0.6"/>',
            _text(high + 6, top + _BAR - 3, f"{rate['n']} ({share:.0%})"),
        )
    )


def _rect(left: float, top: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{left:.1f}" y="{top:g}" width="{width:.1f}" height="{height:g}" fill="{colour}"/>'


def _text(left: float, top: float, text: str) -> str:
    return f'<text x="{left:.1f}" y="{top:g}" {_STYLE}>{escape(text)}</text>'


def _svg(title: str, height: float, drawn: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" width="{_WIDTH}" height="{height:g}" '
        f'role="img" aria-label="{escape(title)}">{"".join(drawn)}</svg>'
    )
