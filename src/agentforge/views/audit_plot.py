"""The plot of an audit as SVG: one bar for each model call, stages told apart by colour, a line of the sum."""

from __future__ import annotations

from html import escape

from agentforge.views.audit_blocks import Bar, Plot

_WIDTH, _HEIGHT = 720, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 60, 12, 40
_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d", "#bab0ac")
_LINE = "#7f7f7f"


def plot_svg(plot: Plot, *, ink: str) -> str:
    """Draw a plot.

    Args:
        ink: colour of words and axes; "currentColor" follows the page.
    """
    bars = plot.bars
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    slot = width / max(len(bars), 1)
    highest = max((bar.value for bar in bars), default=1) or 1
    total = bars[-1].total if bars and bars[-1].total else 1.0
    groups = list(dict.fromkeys(bar.group for bar in bars))
    drawn = [_bar(bar, number, slot, height * bar.value / highest, groups) for number, bar in enumerate(bars)]
    points = " ".join(
        f"{_LEFT + slot * (number + 0.5):.1f},{_TOP + height * (1 - bar.total / total):.1f}"
        for number, bar in enumerate(bars)
    )
    style = f'font-family="Libertinus Serif, Georgia, serif" font-size="11" fill="{ink}"'
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"',
            f' role="img" aria-label="{escape(plot.title)}">',
            *drawn,
            f'<polyline points="{points}" fill="none" stroke="{_LINE}" stroke-width="1.5"/>',
            f'<path d="M{_LEFT} {_TOP}V{_TOP + height}H{_LEFT + width}V{_TOP}" fill="none" stroke="{ink}" '
            'stroke-opacity="0.5"/>',
            _label(_LEFT - 6, _TOP + 10, f"{highest}", "end", style),
            _label(_LEFT - 6, _TOP + height, "0", "end", style),
            _label(_LEFT + width + 6, _TOP + 10, f"{total:g}", "start", style),
            _label(_LEFT + width + 6, _TOP + 23, plot.total_unit, "start", style),
            _label(_LEFT, _TOP + height + 14, bars[0].label if bars else "", "start", style),
            _label(_LEFT + width, _TOP + height + 14, bars[-1].label if bars else "", "end", style),
            _label(_LEFT + width // 2, _TOP + height + 14, "step", "middle", style),
            *(_key(number, group, style) for number, group in enumerate(groups)),
            "</svg>",
        )
    )


def _bar(bar: Bar, number: int, slot: float, height: float, groups: list[str]) -> str:
    bottom = _HEIGHT - _BOTTOM
    colour = _COLOURS[groups.index(bar.group) % len(_COLOURS)]
    wide = max(slot - 1, slot * 0.8)
    return (
        f'<rect x="{_LEFT + slot * number:.2f}" y="{bottom - height:.1f}" width="{min(wide, 40):.2f}" '
        f'height="{height:.1f}" fill="{colour}"/>'
    )


def _label(x: float, y: float, text: str, anchor: str, style: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" {style}>{escape(text)}</text>'


def _key(number: int, group: str, style: str) -> str:
    x = _LEFT + number * 80
    square = f'<rect x="{x}" y="{_HEIGHT - 14}" width="9" height="9" fill="{_COLOURS[number % len(_COLOURS)]}"/>'
    return square + _label(x + 13, _HEIGHT - 5, group[:12], "start", style)
