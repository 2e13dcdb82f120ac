"""How the screen looks: themes and signs, what is left of them without colours, and lookalikes where there is no UTF-8."""

from __future__ import annotations

import codecs
import subprocess
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from textual.theme import Theme


THEMES = ("dark", "light", "contrast")
AUTO = "auto"
"""Instead of a theme: the one that fits the background of the terminal."""

_SIGNS: Mapping[str, tuple[str, str]] = {
    "running": ("●", "*"),
    "success": ("✓", "+"),
    "error": ("✗", "x"),
    "denied": ("⊘", "!"),
    "person": ("›", ">"),
    "note": ("·", "-"),
    "dot": ("·", "|"),
    "child": ("◆", "#"),
    "branch": ("├", "|"),
    "leaf": ("└", "`"),
    "open": ("▾", "v"),
    "todo": ("☐", "[ ]"),
    "done": ("☑", "[x]"),
    "more": ("…", "..."),
    "spin": ("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\"),
}
COLOURS: Mapping[str, str] = {
    "running": "$accent",
    "success": "$success",
    "error": "$error",
    "denied": "$warning",
    "child": "$secondary",
    "note": "$foreground-muted",
}

_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
_LIGHT_GROUNDS = ("7", "15")
_COLOURED = ("xterm-256", "screen", "tmux", "linux", "rxvt", "alacritty", "foot")
ERRORS = "agentforge-lookalike"
"""The name of the error handler of `register`."""
_BOX_FIRST, _BOX_LAST = 0x2500, 0x257F
_BLOCK_LAST = 0x259F
_BRAILLE_FIRST, _BRAILLE_LAST = 0x2800, 0x28FF
_STRAIGHT = {**dict.fromkeys("─━┄┅┈┉╌╍═╴╶╸╺", "-"), **dict.fromkeys("│┃┆┇┊┋╎╏║╵╷╹╻", "|")}
_LOOKALIKES = {
    **dict.fromkeys("‘’‚‛′", "'"), **dict.fromkeys("“”„‟″", '"'), **dict.fromkeys("‐‑‒–—―−", "-"),
    **dict.fromkeys("•●∙▪■◆", "*"), "·": "-", **dict.fromkeys("○◦◇□☐", "o"), **dict.fromkeys("→⇒➜▶►›»", ">"),
    **dict.fromkeys("←⇐◀◄‹«", "<"),
    **dict.fromkeys("✓✔☑", "+"), **dict.fromkeys("✗✘×⊘", "x"), "…": "~", "↑": "^", "↓": "v", "▾": "v", "▸": ">",
    "ß": "s", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "ı": "i", "æ": "a", "Æ": "A", "œ": "o",
}  # fmt: skip


class Signs:
    """The marks of the screen; plain ASCII where the locale knows no more."""

    def __init__(self, *, unicode: bool) -> None:
        self.unicode = unicode

    def __getitem__(self, name: str) -> str:
        """The mark of that name."""
        return _SIGNS[name][0 if self.unicode else 1]


def knows_unicode(environ: Mapping[str, str]) -> bool:
    """Whether the locale says UTF-8. A locale that nobody set counts as one that cannot, unless Python has chosen one for it."""
    chosen = environ.get("LC_CTYPE", "")
    value = environ.get("LC_ALL") or ("" if _is_pythons(chosen) else chosen) or environ.get("LANG") or chosen
    return "utf" in value.lower()


def _is_pythons(locale: str) -> bool:
    """Whether Python has set LC_CTYPE itself, because the user's locale is C (PEP 538)."""
    if locale not in _COERCED:
        return False
    try:
        began_with = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return not any(row.startswith(b"LC_CTYPE=") for row in began_with)


def knows_colour(environ: Mapping[str, str]) -> bool:
    """Whether colours are wanted and the terminal has any; one that nobody has described is taken to have them."""
    if environ.get("NO_COLOR"):
        return False
    terminal = environ.get("TERM", "")
    if environ.get("COLORTERM") or terminal.startswith(_COLOURED) or not terminal:
        return True

    try:
        told = subprocess.run(["tput", "-T", terminal, "colors"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return True
    return not told.strip().startswith(("-1", "0"))


def fitting_theme(environ: Mapping[str, str], *, light: bool | None = None) -> str:
    """The theme for whoever has chosen none.

    Args:
        light: what the terminal itself says about its background; None = nothing, then COLORFGBG counts.
    """
    if light is None:
        light = environ.get("COLORFGBG", "").rpartition(";")[2] in _LIGHT_GROUNDS
    return "light" if light else "dark"


def themes() -> tuple[Theme, ...]:
    """The themes of the screen, in the order in which they are gone through."""
    from textual.theme import Theme

    return (
        Theme(
            name="dark", primary="#7aa2f7", secondary="#bb9af7", accent="#7dcfff", success="#9ece6a", warning="#e0af68",
            error="#f7768e", foreground="#c8d0e8", background="#16161e", surface="#1c1d28", panel="#24263a", dark=True,
        ),
        Theme(
            name="light", primary="#2f5fb3", secondary="#7847bd", accent="#0b7285", success="#2b7a2b", warning="#8f5e00",
            error="#b3261e", foreground="#20242e", background="#fbfbfd", surface="#f1f2f6", panel="#e3e6ee", dark=False,
        ),
        Theme(
            name="contrast", primary="#ffff00", secondary="#00ffff", accent="#00ffff", success="#00ff00",
            warning="#ffff00", error="#ff6060", foreground="#ffffff", background="#000000", surface="#000000",
            panel="#202020", dark=True,
        ),
    )  # fmt: skip


def markdown_parser() -> MarkdownIt:
    """Tables, but no links that nobody wrote: `textkit.py` is a file, not a host in Paraguay."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


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
    known = _LOOKALIKES.get(char) or _STRAIGHT.get(char)
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
