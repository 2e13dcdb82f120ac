"""Whether a text that is being written has begun to repeat itself, as small models do until their tokens are spent. Pure."""

from __future__ import annotations

LEAST = 900
"""Characters at the end that must be one piece again and again."""

_LONGEST_PIECE = 220


def repeats_itself(text: str) -> bool:
    """Whether the end of a text is nothing but one piece of at most 220 characters, at least four times."""
    tail = text[-LEAST:]
    if len(tail) < LEAST:
        return False
    return any(tail[piece:] == tail[:-piece] for piece in range(1, _LONGEST_PIECE + 1))
