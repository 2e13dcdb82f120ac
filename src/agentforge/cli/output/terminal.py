"""What fits on a terminal: widths, cuts, colours, tables. Nothing is written here."""

from __future__ import annotations

import os
import sys
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence

from agentforge.frozen import dataclass
from agentforge.tui import knows_colour

_NARROW = 20
_INDENT = "    "
_LONGEST_TAIL = 16
_CODES: Mapping[str, str] = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_SIGNS: Mapping[str, tuple[str, str]] = {
    "done": ("✓", "+"),
    "failed": ("✗", "x"),
    "skipped": ("-", "-"),
    "asked": ("?", "?"),
    "note": ("·", "."),
    "dot": ("·", "|"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """What a stream can show; `columns` is 0 where lines may be as long as they like."""

    colour: bool
    unicode: bool
    columns: int = 0

    def paint(self, text: str, name: str) -> str:
        """Colour a text ("bold", "dim", "red", "green", "yellow", "cyan") where colours are wanted."""
        return f"\x1b[{_CODES[name]}m{text}\x1b[0m" if self.colour and text else text

    def sign(self, name: str) -> str:
        """Return the mark for "done", "failed", "skipped", "asked", "note" or "dot"."""
        return _SIGNS[name][0 if self.unicode else 1]


def style_for(stream: object, environ: Mapping[str, str]) -> Style:
    """Find out what a stream can show; honours `NO_COLOR`, `TERM=dumb` and terminals without colours."""
    is_terminal = bool(getattr(stream, "isatty", lambda: False)())
    encoding = str(getattr(stream, "encoding", "") or "").lower().replace("-", "")
    colour = is_terminal and environ.get("TERM") != "dumb" and knows_colour(environ)
    columns = terminal_columns(stream) if is_terminal else 0
    return Style(colour=colour, unicode=encoding.startswith("utf"), columns=columns)


def terminal_columns(stream: object) -> int:
    """Ask how wide the terminal behind a stream is; 80 where it does not say."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80  # type: ignore[attr-defined] # a stream
    except (OSError, AttributeError):
        return 80


def printable(text: str) -> str:
    """Make one line that cannot steer a terminal: line ends become spaces, controls and invisible signs escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def printable_lines(text: str) -> list[str]:
    """Split into lines, each of them printable."""
    return [printable(line) for line in text.splitlines()]


def width_of(text: str) -> int:
    """Count the columns of a printable text: wide characters take two, combining ones none."""
    return len(text) if text.isascii() else sum(_columns(char) for char in text)


def cut(text: str, width: int) -> str:
    """Cut a printable text to at most `width` columns; a wide character is never broken, a cut ends in "..."."""
    if width_of(text) <= width:
        return text
    room, used, end = max(width - 3, 0), 0, 0
    for end, char in enumerate(text):  # noqa: B007 - the place of the cut is read after the loop
        used += _columns(char)
        if used > room:
            break
    return (text[:end] + "...")[: max(width, 0)]


def cut_words(text: str, width: int) -> str:
    """Cut a printable text like `cut`, after a whole word where one ends near."""
    shorter = cut(text, width)
    if shorter == text or text[len(shorter) - 3].isspace():
        return shorter
    kept = shorter[:-3]
    words = kept.rpartition(" ")[0].rstrip()
    return f"{words}..." if words and len(kept) - len(words) <= _LONGEST_TAIL else shorter


def shown_table(rows: Sequence[Sequence[str]], *, head: Sequence[str]) -> str:
    """Lay out rows as `table` does, for standard output."""
    return "\n".join(table(rows, head=head, style=style_for(sys.stdout, os.environ)))


def table(rows: Sequence[Sequence[str]], *, head: Sequence[str], style: Style) -> list[str]:
    """Lay out rows in columns as wide as they need to be.

    Where the terminal is too narrow, the last column goes on below itself, or stands below the others, indented.
    """
    cells = [[printable(cell) for cell in row] for row in (head, *rows)]
    widths = [max(width_of(row[number]) for row in cells) for number in range(len(head))]
    start = sum(widths[:-1]) + 2 * len(widths[:-1])
    room = style.columns - start if style.columns and start + widths[-1] > style.columns else widths[-1]
    lines: list[str] = []
    for row in cells:
        padded = [cell + " " * (width - width_of(cell)) for cell, width in zip(row[:-1], widths[:-1], strict=True)]
        if room < min(widths[-1], _NARROW):
            below = wrapped(row[-1], max(style.columns - len(_INDENT), _NARROW))
            lines += ["  ".join(padded).rstrip(), *(_INDENT + line for line in below)]
            continue
        first, *more = wrapped(row[-1], max(room, 1))
        lines += ["  ".join([*padded, first]).rstrip(), *(" " * start + line for line in more)]
    return [style.paint(lines[0], "dim"), *lines[1:]]


def wrapped(text: str, width: int) -> list[str]:
    """Break a printable text between words, and inside a word only where it is wider than `width` columns; at least one line."""
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _shown(char: str) -> str:
    if char in "\n\r\t\v\f\x85\u2028\u2029":
        return " "
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co"):
        return f"<U+{ord(char):04X}>"
    return char
