"""What is left of the screen where the terminal has no colours, or no signs but ASCII."""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from agentforge.tui.lookalikes import lookalike

_FAR = 0.35
"""From this difference in brightness on a background is a mark: a cursor, a selection, the chosen line."""


class Lookalikes(LineFilter):
    """Draws ASCII alone, cell for cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Draw segments with signs that look like theirs."""
        return [Segment(lookalike(text), style, control) for text, style, control in segments]


class Colourless(LineFilter):
    """Takes colours out of what is drawn; what brightness said is said in reverse video, bold, italics and underlines stay."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Draw segments in the terminal's own two colours."""
        return [
            Segment(text, _plain(style, background.brightness) if style is not None else None, control)
            for text, style, control in segments
        ]


@lru_cache(1024)
def _plain(style: Style, ground: float) -> Style:
    plain = style.without_color + Style.from_meta(style.meta) if style.meta else style.without_color
    return plain + Style(reverse=not style.reverse) if _is_marked(style.bgcolor, ground) else plain


def _is_marked(colour: RichColor | None, ground: float) -> bool:
    if colour is None or colour.is_default:
        return False
    return abs(Color.from_rich_color(colour).brightness - ground) >= _FAR
