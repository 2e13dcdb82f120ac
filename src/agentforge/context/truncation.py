"""How a text becomes shorter: parts become one line each, lists lose their end, the law goes on in the next part. Pure."""

from __future__ import annotations

from agentforge.context.sections import Piece
from agentforge.tokens import count_tokens

_MARKER = 24
"""Tokens of the line that says how much is missing."""


def whole_text(piece: Piece) -> str:
    """The text of a piece when nothing of it has to be short."""
    return "\n".join(whole for whole, _ in piece.parts) if piece.parts else piece.text.rstrip()


def with_short_parts(piece: Piece, limit: int) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The parts, the last ones short as far as it must be, and those that became short."""
    shown = [whole for whole, _ in piece.parts]
    left: list[tuple[str, str]] = []
    for place in range(len(shown) - 1, -1, -1):
        if count_tokens("\n".join(shown)) <= limit:
            break
        whole, short = piece.parts[place]
        if short and short != whole:
            shown[place] = short
            left.insert(0, (whole, short))
    return "\n".join(shown), tuple(left)


def beginning(piece: Piece, limit: int) -> str:
    """The first lines, and how many more there are."""
    lines = piece.text.rstrip().split("\n")
    kept, spent = 0, _MARKER + count_tokens(piece.note)
    while kept < len(lines) and spent + count_tokens(lines[kept]) + 1 <= limit:
        spent += count_tokens(lines[kept]) + 1
        kept += 1
    note = f"; {piece.note}" if piece.note else ""
    return "\n".join([*lines[:kept], f"... {len(lines) - kept} more lines left out for lack of room{note} ..."])


def split(text: str, limit: int) -> tuple[str, str]:
    """A text in two at white space, at the end of a line where one is near; the first costs at most `limit` tokens."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(text[:middle]) <= limit else (low, middle - 1)
    line = text.rfind("\n", 0, low)
    end = line if line > low * 2 // 3 else max(text.rfind(" ", 0, low), line)
    return (text[:end].rstrip(), text[end:].lstrip("\n")) if end > 0 else ("", text)
