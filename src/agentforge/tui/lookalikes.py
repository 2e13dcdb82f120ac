"""Text for a terminal whose locale is not UTF-8: every sign becomes one that looks like it and is as wide."""

from __future__ import annotations

import codecs
import unicodedata
from functools import lru_cache

ERRORS = "agentforge-lookalike"
"""The name of the error handler of `register`."""

_BOX_FIRST, _BOX_LAST = 0x2500, 0x257F
_BLOCK_LAST = 0x259F
_BRAILLE_FIRST, _BRAILLE_LAST = 0x2800, 0x28FF
_STRAIGHT = {**dict.fromkeys("─━┄┅┈┉╌╍═╴╶╸╺", "-"), **dict.fromkeys("│┃┆┇┊┋╎╏║╵╷╹╻", "|")}
_SIGNS = {
    **dict.fromkeys("‘’‚‛′", "'"), **dict.fromkeys("“”„‟″", '"'), **dict.fromkeys("‐‑‒–—―−", "-"),
    **dict.fromkeys("•●∙▪■◆", "*"), "·": "-", **dict.fromkeys("○◦◇□☐", "o"), **dict.fromkeys("→⇒➜▶►›»", ">"),
    **dict.fromkeys("←⇐◀◄‹«", "<"),
    **dict.fromkeys("✓✔☑", "+"), **dict.fromkeys("✗✘×⊘", "x"), "…": "~", "↑": "^", "↓": "v", "▾": "v", "▸": ">",
    "ß": "s", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "ı": "i", "æ": "a", "Æ": "A", "œ": "o",
}  # fmt: skip


def lookalike(text: str) -> str:
    """The text in ASCII, as wide as it was; what nothing looks like becomes a question mark."""
    return text if text.isascii() else "".join(char if char < "\x80" else _of(char) for char in text)


def register() -> None:
    """Let streams that cannot encode a sign write what looks like it (`errors=ERRORS`)."""

    def replaced(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        return lookalike(error.object[error.start : error.end]), error.end

    codecs.register_error(ERRORS, replaced)


@lru_cache(2048)
def _of(char: str) -> str:
    known = _SIGNS.get(char) or _STRAIGHT.get(char)
    if known is not None:
        return known
    code = ord(char)
    if _BOX_FIRST <= code <= _BOX_LAST:
        return "+"
    if code <= _BLOCK_LAST and code > _BOX_LAST:
        return "#"
    if _BRAILLE_FIRST <= code <= _BRAILLE_LAST:
        return "*"
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return ""
    base = unicodedata.normalize("NFKD", char)[0]
    wide = unicodedata.east_asian_width(char) in ("W", "F")
    plain = base if base < "\x80" and base.isprintable() else "?"
    return plain + " " if wide and plain != "?" else plain * (2 if wide else 1)
