"""Plots as SVG in the colours of the page. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from agentforge.dashboard.page_templates import count_text
from agentforge.dashboard.timeline import StepSpan
from agentforge.views.audit_blocks import Bar, Plot, visible
from agentforge.views.audit_plot import plot_svg

_MOST_BARS = 120
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 520, 170, 58, 14, 24
_WIDEST_BAR = 44.0
_LABELS = 8


def spending_svg(steps: Sequence[StepSpan]) -> str:
    """What each step of a run used; in a long run a bar stands for several steps. "" for a run without calls."""
    size = max(1, -(-len(steps) // _MOST_BARS))
    bars, total = [], 0
    for start in range(0, len(steps), size):
        part = steps[start : start + size]
        value = sum(step.tokens for step in part)
        total += value
        bars.append(Bar(label=str(part[0].number), group=visible(part[0].stage), value=value, total=float(total)))
    title = "Tokens of each model call (bars) and their sum (line)"
    return (
        plot_svg(Plot(title=title, bars=tuple(bars), unit="tokens", total_unit="tokens"), ink="currentColor")
        if bars
        else ""
    )


def weeks_svg(title: str, rows: Sequence[Mapping[str, Any]], *, name: str, part: str = "", unit: str = "") -> str:
    """A number for each week as bars.

    Args:
        rows: app.measures.weekly.
        name: the field that is drawn.
        part: a field that is a part of it, drawn into its bar; "" = none.
        unit: what stands before a number, such as "$".
    """
    most = max((float(row[name]) for row in rows), default=0.0)
    slot = (_WIDTH - _LEFT - 8) / max(len(rows), 1)
    wide = min(slot * 0.8, _WIDEST_BAR)
    every = max(1, -(-len(rows) // _LABELS))
    drawn = []
    for number, row in enumerate(rows):
        left = _LEFT + slot * number + (slot - wide) / 2
        drawn.append(_bar(left, wide, float(row[name]) / (most or 1), "bar"))
        if part:
            drawn.append(_bar(left, wide, float(row[part]) / (most or 1), "part"))
        if number % every == 0:
            drawn.append(_text(left + wide / 2, _HEIGHT - _BOTTOM + 16, str(row["week"])[5:], "middle"))
    return "".join(
        (
            f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">',
            f'<path class="axis" d="M{_LEFT} {_TOP}V{_HEIGHT - _BOTTOM}H{_WIDTH - 8}"/>',
            *drawn,
            _text(_LEFT - 6, _TOP + 8, _number(most, unit) if most else "", "end"),
            _text(_LEFT - 6, _HEIGHT - _BOTTOM, "0", "end"),
            "</svg>",
        )
    )


def trend_svg(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    name: str,
    shown: Callable[[float | None], str],
    target: float | None = None,
    whole: float | None = None,
) -> str:
    """A number for each week as a line, with what is aimed at as a dashed one; weeks without a number leave a gap.

    Args:
        shown: a number as words.
        target: None = nothing is aimed at.
        whole: the most that the number can be, None = nothing bounds it.
    """
    known = [float(row[name]) for row in rows if row[name] is not None]
    most = max([*known, target or 0.0]) * 1.1 or 1.0
    most = most if whole is None else min(most, whole)
    slot = (_WIDTH - _LEFT - 8) / max(len(rows), 1)
    every = max(1, -(-len(rows) // _LABELS))
    drawn, path, lifted = [], [], True
    for number, row in enumerate(rows):
        x = _LEFT + slot * (number + 0.5)
        if number % every == 0:
            drawn.append(_text(x, _HEIGHT - _BOTTOM + 16, str(row["week"])[5:], "middle"))
        if row[name] is None:
            lifted = True
            continue
        y = _level(float(row[name]) / most)
        path.append(f"{'M' if lifted else 'L'}{x:.1f} {y:.1f}")
        lifted = False
        told = escape(f"{row['week']}: {shown(row[name])}")
        drawn.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3.5"><title>{told}</title></circle>')
    if target is not None:
        y = _level(target / most)
        drawn.append(f'<path class="target" d="M{_LEFT} {y:.1f}H{_WIDTH - 8}"/>')
        drawn.append(_text(_WIDTH - 8, y - 4, f"target {shown(target)}", "end"))
    return "".join(
        (
            f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">',
            f'<path class="axis" d="M{_LEFT} {_TOP}V{_HEIGHT - _BOTTOM}H{_WIDTH - 8}"/>',
            f'<path class="line" d="{"".join(path)}"/>',
            *drawn,
            _text(_LEFT - 6, _TOP + 8, shown(most), "end"),
            _text(_LEFT - 6, _HEIGHT - _BOTTOM, "0", "end"),
            "</svg>",
        )
    )


def _level(share: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share


def _number(value: float, unit: str) -> str:
    return f"{unit}{value:.2f}" if unit else count_text(value)


def _bar(left: float, wide: float, share: float, kind: str) -> str:
    height = (_HEIGHT - _TOP - _BOTTOM) * share
    return (
        f'<rect class="{kind}" x="{left:.1f}" y="{_HEIGHT - _BOTTOM - height:.1f}" width="{wide:.1f}" '
        f'height="{height:.1f}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
