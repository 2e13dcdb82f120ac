"""A unified diff in colours: line numbers, grounds of the change over the whole width, the words of the language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.widget import Widget

from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from rich.text import Text
    from textual.app import RenderResult
    from textual.geometry import Size

_GROUND = {True: {"+": "on #12341f", "-": "on #40191f"}, False: {"+": "on #d7f5dd", "-": "on #fbdadd"}}
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")
_LEAST_CODE = 12
_WIDE = 40
"""From this width on there is room for the lines around a change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of a diff.

    Attributes:
        sign: "+", "-", " ", "@" where lines are left out, "f" for the name of a file.
        number: of the line, after the change; of one that goes away, before it.
        text: without its sign.
    """

    sign: str
    text: str
    number: int = 0


class DiffView(Widget):
    """A diff, as high as it is; long lines go on below.

    Args:
        most: lines that are shown; what is left out is said.
        more: what is said behind the number of lines that are left out.
    """

    DEFAULT_CSS = "DiffView { height: auto; width: 100%; }"

    def __init__(self, diff: str, *, most: int, more: str = "", classes: str = "detail") -> None:
        super().__init__(classes=classes)
        self._parts = parts_of(diff)
        self._many = len(self._parts) > 1
        self._most = most
        self._more = more
        self._drawn: tuple[tuple[int, bool], list[Text]] = ((0, False), [])

    def render(self) -> RenderResult:
        """Draw it as wide as there is room."""
        from rich.text import Text

        return Text("\n").join(self._lines(self.size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as it takes in that width."""
        return len(self._lines(width))

    def _lines(self, width: int) -> list[Text]:
        key = (width, self.app.current_theme.dark)
        if self._drawn[0] != key:
            self._drawn = key, self._coloured(max(_LEAST_CODE, width), dark=key[1])
        return self._drawn[1]

    def _coloured(self, width: int, *, dark: bool) -> list[Text]:
        from rich.text import Text

        lines: list[Text] = []
        left = self._most
        parts = [(name, rows if width >= _WIDE else without_context(rows)) for name, rows in self._parts]
        total = sum(len(rows) for _, rows in parts)
        for name, rows in parts:
            shown = rows[:left]
            left -= len(shown)
            if self._many and shown:
                lines.append(Text(name, style="bold"))
            lines += drawn(shown, name, width=width, dark=dark)
        if total > self._most:
            lines.append(Text(f"... {total - self._most} lines more{self._more}", style="dim"))
        return lines


def without_context(rows: list[Row]) -> list[Row]:
    """The changed lines alone, for a place where every other line would push them out of sight; all, where none changed."""
    return [row for row in rows if row.sign != " "] if any(row.sign in "+-" for row in rows) else rows


def drawn(rows: list[Row], name: str, *, width: int, dark: bool) -> list[Text]:
    """Rows of one file as lines of that width."""
    from rich.text import Text

    code = _highlighted([row.text for row in rows if row.sign != "@"], name, dark=dark)
    digits = len(str(max((row.number for row in rows), default=1)))
    lines: list[Text] = []
    for row in rows:
        if row.sign == "@":
            lines.append(Text(f"{'':{digits}} ...{row.text}"[:width], style="dim cyan"))
            continue
        style = {"+": "bold green", "-": "bold red"}.get(row.sign, "dim")
        for place, piece in enumerate(_folded(next(code), max(_LEAST_CODE, width - digits - 3))):
            line = Text(f"{row.number if row.number and not place else '':>{digits}} ", style="dim")
            line.append(f"{row.sign if not place else ' '} ", style=style)
            line.append_text(piece)
            line.truncate(width, pad=True)
            line.stylize(_GROUND[dark].get(row.sign, ""))
            lines.append(line)
    return lines


def parts_of(diff: str) -> list[tuple[str, list[Row]]]:
    """The files of a diff and their lines; unified, or as `apply_patch` takes them. What is neither is shown as it is."""
    reader = _Reader()
    for line in diff.expandtabs(4).splitlines():
        reader.take(line)
    return [part for part in reader.parts if part[1]] or [
        ("", [Row(sign=" ", text=line) for line in diff.splitlines()])
    ]


class _Reader:
    """Takes a diff line by line; the head of a hunk says how many of the next ones are its."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, list[Row]]] = []
        self._left = {"-": 0, "+": 0}
        self._at = {"-": 0, "+": 0}
        self._loose = False

    def take(self, line: str) -> None:
        """Take the next line."""
        hunk = _HUNK.match(line)
        if any(left > 0 for left in self._left.values()):
            self._content(line)
        elif hunk is not None and self.parts:
            self._begin_hunk(hunk)
        elif line.startswith("--- "):
            self.parts.append((line[4:].split("\t", maxsplit=1)[0].removeprefix("a/"), []))
        elif line.startswith("+++ ") and self.parts:
            name = line[4:].split("\t", maxsplit=1)[0].removeprefix("b/")
            self.parts[-1] = (self.parts[-1][0] if name == "/dev/null" else name, [])
        elif line.startswith("*** "):
            self._loose = True
            self.parts.append((line[4:].partition(": ")[2] or line[4:], []))
        elif self._loose:
            self._patch_line(line)

    def _begin_hunk(self, hunk: re.Match[str]) -> None:
        rows = self.parts[-1][1]
        if rows:
            rows.append(Row(sign="@", text=hunk[5]))
        self._at = {"-": int(hunk[1]), "+": int(hunk[3])}
        self._left = {"-": int(hunk[2] or 1), "+": int(hunk[4] or 1)}

    def _content(self, line: str) -> None:
        if line.startswith("\\"):
            return
        sign = line[:1] or " "
        side = "-" if sign == "-" else "+"
        self.parts[-1][1].append(Row(sign=sign, text=line[1:], number=self._at[side]))
        for one in ("-", "+") if sign == " " else (side,):
            self._at[one] += 1
            self._left[one] -= 1

    def _patch_line(self, line: str) -> None:
        sign = "@" if line.startswith("@@") else line[:1] if line[:1] in ("+", "-") else " "
        self.parts[-1][1].append(Row(sign=sign, text=line[2:] if sign == "@" else line[1:]))


def counts(diff: str) -> str:
    """How much a diff changes: "+3 -1"."""
    rows = diff.splitlines()
    added = sum(1 for row in rows if row.startswith("+") and not row.startswith("+++"))
    gone = sum(1 for row in rows if row.startswith("-") and not row.startswith("---"))
    return f"+{added} -{gone}"


def _folded(line: Text, width: int) -> list[Text]:
    """A line in pieces of at most that many columns."""
    from rich.cells import chop_cells

    pieces = chop_cells(line.plain, width)
    if len(pieces) < 2:
        return [line]
    ends: list[int] = []
    for piece in pieces[:-1]:
        ends.append((ends[-1] if ends else 0) + len(piece))
    return list(line.divide(ends))


def _highlighted(code: list[str], name: str, *, dark: bool) -> Iterator[Text]:
    from rich.style import Style
    from rich.syntax import Syntax
    from rich.text import Text

    text = "\n".join(code)
    lexer = Syntax.guess_lexer(name, text) if name else "text"
    told = Syntax(text, lexer, theme="ansi_dark" if dark else "xcode").highlight(text)
    if not dark:  # on white, ANSI's yellow cannot be read; the ground is that of the row
        told.style = ""
        told.spans = [one._replace(style=Style(color=Style.parse(str(one.style)).color)) for one in told.spans]
    yield from told.split("\n", allow_blank=True)
    while True:  # a lexer that drops a blank line at the end
        yield Text("")
