"""A unified diff in colours: the signs and grounds of the change, the words of the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

_LINES = 300
_GROUND = {
    True: {"+": "on #12341f", "-": "on #40191f"},
    False: {"+": "on #d7f5dd", "-": "on #fbdadd"},
}
_HEADS = ("diff ", "index ", "--- ", "+++ ", "@@", "new file", "deleted file", "similarity", "rename ", "\\ No newline")


def coloured(diff: str, *, dark: bool) -> Text:
    """Colour a unified diff; of a long one the beginning.

    Args:
        dark: whether it stands on a dark ground.
    """
    from rich.text import Text

    lines = diff.expandtabs(4).splitlines()
    shown = Text(no_wrap=True)
    for name, rows in _files(lines[:_LINES]):
        code = _highlighted([row[1:] for row in rows if not row.startswith(_HEADS)], name, dark=dark)
        for row in rows:
            if row.startswith(_HEADS):
                shown.append(f"{row}\n", style="dim cyan" if row.startswith("@@") else "dim")
                continue
            line = Text(
                f"{row[:1] or ' '} ", style="bold green" if row[:1] == "+" else "bold red" if row[:1] == "-" else "dim"
            )
            line.append_text(next(code))
            line.stylize(_GROUND[dark].get(row[:1], ""))
            shown.append_text(line).append("\n")
    if len(lines) > _LINES:
        shown.append(f"... {len(lines) - _LINES} lines more\n", style="dim")
    shown.rstrip()
    return shown


def counts(diff: str) -> str:
    """How much a diff changes: "+3 -1"."""
    rows = diff.splitlines()
    added = sum(1 for row in rows if row.startswith("+") and not row.startswith("+++"))
    gone = sum(1 for row in rows if row.startswith("-") and not row.startswith("---"))
    return f"+{added} -{gone}"


def _files(lines: list[str]):  # type: ignore[no-untyped-def]  # Iterator[tuple[str, list[str]]]
    """The parts of a diff, each with the name of its file."""
    name, rows = "", list[str]()
    for line in lines:
        if line.startswith("--- ") and any(not row.startswith(_HEADS) for row in rows):
            yield name, rows
            rows = []
        if line.startswith("+++ "):
            name = line[4:].split("\t")[0].removeprefix("b/")
        rows.append(line)
    yield name, rows


def _highlighted(code: list[str], name: str, *, dark: bool):  # type: ignore[no-untyped-def]  # Iterator[Text]
    from rich.syntax import Syntax
    from rich.text import Text

    text = "\n".join(code)
    lexer = Syntax.guess_lexer(name, text) if name else "text"
    syntax = Syntax(text, lexer, theme="ansi_dark" if dark else "ansi_light")
    lines = syntax.highlight(text).split("\n", allow_blank=True)
    yield from lines
    while True:  # a lexer that drops a blank line at the end
        yield Text("")
