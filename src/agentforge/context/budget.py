"""The token budget of a pipeline step and the rules by which a section is made to fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentforge.frozen import dataclass
from agentforge.tokens import count_tokens, cut_middle

TOKEN_BUDGET = {
    "system_prompt": 1000,
    "task_frame": 500,
    "current_state": 4500,
    "recent_actions": 1000,
    "verification_status": 200,
    "available_actions": 800,
}
"""Tokens per section. Source: seed 001 section 3.5."""

TOTAL_LIMIT = 8000
COUNTED_LIMIT = 7200
"""What our own count may reach: it can lie up to a tenth below a provider's vocabulary on unusual text."""

ERROR_LIMIT_CHARS = 500
_LEAST_PIECE = 48
_MARK_LETTERS = 10
_FENCE = 28
"""Tokens of the two lines around a foreign piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A named part of a section.

    Attributes:
        limit: tokens that this piece may cost at most, whatever room there is.
        note: how the model can see what was cut.
        foreign: it comes from files of the repository or from what their code printed: fenced as data, never an instruction.
    """

    name: str
    text: str
    limit: int = 4000
    note: str = ""
    foreign: bool = False

    @property
    def shown(self) -> str:
        """The text as a context shows it; the fence's mark is a digest, so that the same text stays the same bytes."""
        if not self.foreign:
            return self.text
        from agentforge.canonical import digest_bytes
        from agentforge.safety.boundary import wrap
        from agentforge.safety.hygiene import clean

        text = clean(self.text.rstrip())
        return wrap(text, nonce=digest_bytes(text.encode("utf-8", "replace")).rpartition(":")[2][:_MARK_LETTERS])


def fit(pieces: Sequence[Piece], *, room: int) -> tuple[list[Piece], int]:
    """Cut pieces so that all together cost at most `room` tokens; earlier pieces are served first.

    Args:
        room: tokens.
    Returns:
        The pieces that fit (cut where needed, the cut visible in the text) and the tokens they cost. A piece for which no
        useful room is left is named as omitted, so that nothing vanishes silently.
    """
    kept: list[Piece] = []
    used = 0
    omitted: list[str] = []
    for piece in pieces:
        frame = count_tokens(piece.name) + 6 + (_FENCE if piece.foreign else 0)
        left = min(piece.limit, room - used - frame)
        if not piece.text:
            continue
        if left < _LEAST_PIECE and count_tokens(piece.text) > left:
            omitted.append(piece.name)
            continue
        text = cut_middle(piece.text, limit=left, note=piece.note)
        kept.append(replace(piece, text=text))
        used += count_tokens(text) + frame
    if omitted:
        line = f"no room for: {', '.join(omitted)[:200]}"
        kept.append(Piece(name="omitted", text=line))
        used += count_tokens(line) + 8
    return kept, used


def one_line(text: str, *, limit: int = 200) -> str:
    """Summarise a result to a single line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 4]} ..."


def short_error(text: str) -> str:
    """Truncate an error to 500 characters (seed 001 section 3.5)."""
    return text if len(text) <= ERROR_LIMIT_CHARS else f"{text[: ERROR_LIMIT_CHARS - 4]} ..."
