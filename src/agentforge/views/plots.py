"""A bar for each week, as one SVG file that needs nothing else. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape

_BAR, _GAP, _HEIGHT, _MARGIN, _TEXT = 28, 10, 140, 46, 11
_STYLE = "text{font:11px sans-serif;fill:#444}rect{fill:#3b6ea5}"


def bars_svg(title: str, values: Mapping[str, int]) -> str:
    """Draw counts as bars with their number above and their name below.

    Args:
        values: name -> count, in the order in which they are drawn.
    """
    most = max(values.values(), default=0) or 1
    width = 2 * _MARGIN + max(len(values), 6) * (_BAR + _GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_HEIGHT + 2 * _MARGIN}" width="{width}" role="img">',
        f"<style>{_STYLE}</style><title>{escape(title)}</title>",
        f'<text x="{_MARGIN}" y="18">{escape(title)}</text>',
    ]
    for number, (name, count) in enumerate(values.items()):
        left, height = _MARGIN + number * (_BAR + _GAP), round(_HEIGHT * count / most)
        top, middle = _MARGIN + _HEIGHT - height, left + _BAR // 2
        foot = _MARGIN + _HEIGHT + _TEXT
        parts += [
            f'<rect x="{left}" y="{top}" width="{_BAR}" height="{height}"/>',
            f'<text x="{middle}" y="{top - 4}" text-anchor="middle">{count}</text>',
            f'<text transform="translate({middle + 4},{foot}) rotate(45)">{escape(name)}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"
