"""A patch as files, blocks and lines that a page can show side by side, with the colours of the language."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from typing import Literal

from agentforge.views.audit_blocks import visible

Content = Callable[[str, bool], str | None]
"""The whole text of a file, by its name and whether it is the one after the change; None where it cannot be had."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)")
_LONGEST_COLOURED = 200_000
_FILES_COLOURED = 30


@dataclass(slots=True)
class Line:
    """One line of a file before or after.

    Attributes:
        number: in its file, counted from 1.
        html: its text, escaped and coloured.
    """

    number: int
    text: str
    html: str = ""


@dataclass(slots=True)
class Block:
    """Lines that belong together: unchanged ones, or what was taken out with what stands there instead.

    Attributes:
        head: of a hunk: what git says the lines are in; first: it begins at the beginning of the file.
        note: of the kind "note": a line of git's about the file.
    """

    kind: Literal["same", "change", "hunk", "note"]
    old: list[Line] = field(default_factory=list)
    new: list[Line] = field(default_factory=list)
    head: str = ""
    note: str = ""
    first: bool = False


@dataclass(slots=True)
class File:
    """A file of a patch.

    Attributes:
        kind: "" = it was there before and still is.
    """

    name: str
    kind: Literal["", "new", "deleted"] = ""
    blocks: list[Block] = field(default_factory=list)
    added: int = 0
    removed: int = 0

    @property
    def lines(self) -> int:
        """How many lines are shown of it."""
        return sum(max(len(block.old), len(block.new)) for block in self.blocks)


def diff_files(patch: str, content: Content | None = None) -> list[File]:
    """Read a patch.

    Args:
        content: gives whole files, with which a text over many lines keeps its colour; without it each hunk is read by itself.
    """
    files: list[File] = []
    reader = _Reader(File(name=""))
    for line in patch.splitlines():
        if line.startswith("diff --git "):
            files.append(File(name=_new_name(line)))
            reader = _Reader(files[-1])
        else:
            if not files:
                files.append(reader.file)
            reader.see(line)
    for number, file in enumerate(files):
        _colour(file, content, coloured=number < _FILES_COLOURED)
    return files


class _Reader:
    """Takes in the lines of one file's patch."""

    def __init__(self, file: File) -> None:
        self.file = file
        self._in_hunk = False
        self._old = self._new = 0

    def see(self, line: str) -> None:
        found = _HUNK.match(line)
        if found:
            self._in_hunk = True
            self._old, self._new = int(found[1]), int(found[2])
            self.file.blocks.append(Block(kind="hunk", head=found[3], first=self._new <= 1))
        elif not self._in_hunk:
            if line.startswith("new file"):
                self.file.kind = "new"
            elif line.startswith("deleted file"):
                self.file.kind = "deleted"
            elif not line.startswith(("index ", "--- ", "+++ ")):
                self.file.blocks.append(Block(kind="note", note=line))
        elif line.startswith("\\"):
            self.file.blocks.append(Block(kind="note", note=line[2:]))
        else:
            self._see_line(line[:1], line[1:])

    def _see_line(self, sign: str, text: str) -> None:
        changed = sign in ("+", "-")
        block = self._block("change" if changed else "same")
        if sign != "+":
            block.old.append(Line(self._old, text))
            self._old += 1
        if sign != "-":
            block.new.append(Line(self._new, text))
            self._new += 1
        self.file.added += sign == "+"
        self.file.removed += sign == "-"

    def _block(self, kind: Literal["same", "change"]) -> Block:
        if not self.file.blocks or self.file.blocks[-1].kind != kind:
            self.file.blocks.append(Block(kind=kind))
        return self.file.blocks[-1]


def _new_name(line: str) -> str:
    """The name behind ` b/`; a name that git quoted stays quoted."""
    return line.rpartition(' "b/' if line.endswith('"') else " b/")[2].rstrip('"')


def _colour(file: File, content: Content | None, *, coloured: bool) -> None:
    """Give every line its colours: from the whole file where it is to be had and fits, else hunk by hunk."""
    for after in (False, True):
        text = content(file.name, after) if content and coloured else None
        whole = coloured_lines(file.name, text) if text is not None and len(text) <= _LONGEST_COLOURED else ()
        for lines in _hunks(file, after=after):
            alone = () if whole or not coloured else coloured_lines(file.name, "\n".join(one.text for one in lines))
            for place, line in enumerate(lines):
                found = whole[line.number - 1 : line.number] or alone[place : place + 1]
                line.html = found[0] if found else escape(visible(line.text))


def _hunks(file: File, *, after: bool) -> list[list[Line]]:
    hunks: list[list[Line]] = []
    for block in file.blocks:
        if block.kind == "hunk":
            hunks.append([])
        elif hunks:
            hunks[-1] += block.new if after else block.old
    return hunks


@lru_cache(maxsize=256)
def coloured_lines(name: str, text: str) -> tuple[str, ...]:
    """The lines of a text as escaped markup in the colours of its language; () where the language is not known."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_for_filename(name, stripnl=False, ensurenl=True)
    except ClassNotFound:
        return ()
    shown = "\n".join(visible(line) for line in text.split("\n"))
    return tuple(highlight(shown, lexer, HtmlFormatter(nowrap=True, classprefix="h-")).split("\n"))
