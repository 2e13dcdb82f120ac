"""How the screen looks: themes, signs, and what is left of them without colours or without UTF-8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.theme import Theme

THEMES = ("dark", "light", "contrast")

_SIGNS: Mapping[str, tuple[str, str]] = {
    "running": ("●", "*"),
    "success": ("✓", "+"),
    "error": ("✗", "x"),
    "denied": ("⊘", "!"),
    "person": ("›", ">"),
    "note": ("·", "-"),
    "dot": ("·", "|"),
    "child": ("◆", "#"),
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

_STDOUT = 1
_COLOURED = ("xterm-256", "screen", "tmux", "linux", "rxvt", "alacritty", "foot")


class Signs:
    """The marks of the screen; plain ASCII where the locale knows no more."""

    def __init__(self, *, unicode: bool) -> None:
        self.unicode = unicode

    def __getitem__(self, name: str) -> str:
        """The mark of that name."""
        return _SIGNS[name][0 if self.unicode else 1]


def knows_unicode(environ: Mapping[str, str]) -> bool:
    """Whether the locale says UTF-8; a locale that nobody set counts as one that cannot."""
    value = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    return "utf" in value.lower()


def knows_colour(environ: Mapping[str, str]) -> bool:
    """Whether colours are wanted and the terminal has any; one that nobody has described is taken to have them."""
    if environ.get("NO_COLOR"):
        return False
    terminal = environ.get("TERM", "")
    if environ.get("COLORTERM") or terminal.startswith(_COLOURED) or not terminal:
        return True
    import curses

    try:
        curses.setupterm(terminal, _STDOUT)
    except curses.error:
        return True
    return curses.tigetnum("colors") > 0


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
