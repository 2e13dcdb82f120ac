"""Vim's keys in the input: insert and normal mode, motions, operators with counts, put, undo."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.widgets import TextArea

    Place = tuple[int, int]

_WORD = re.compile(r"\w+|[^\w\s]+")
_OPERATORS = ("d", "c", "y")
_FINDS = ("f", "t")


class Vim:
    """Takes keys for a text area while it is in normal mode.

    Attributes:
        normal: keys are commands; else they are text.
    """

    def __init__(self, area: TextArea) -> None:
        self.normal = False
        self._area = area
        self._count = ""
        self._operator = ""
        self._find = ""
        self._register = ""

    @property
    def idle(self) -> bool:
        """Whether the next key begins a command."""
        return not (self._count or self._operator or self._find)

    def escape(self) -> bool:
        """Leave insert mode; whether there was something to leave."""
        if self.normal and self.idle:
            return False
        if not self.normal:
            row, column = self._area.cursor_location
            self._area.move_cursor((row, max(0, column - 1)))
        self.normal = True
        self._forget()
        return True

    def take(self, key: str) -> bool:
        """Take a typed sign; False where it is text."""
        if not self.normal or len(key) != 1:
            return False
        if self._find:
            self._found(key)
        elif key.isdecimal() and (self._count or key != "0"):
            self._count += key
        elif self._operator:
            self._operated(key)
        elif key in _OPERATORS:
            self._operator = key
        elif key in _FINDS:
            self._find = key
        else:
            self._commanded(key)
        return True

    def _commanded(self, key: str) -> None:
        action = self._actions().get(key)
        if action is not None:
            action()
        else:
            target = self._target(key)
            if target is not None:
                self._area.move_cursor(target)
        self._forget()

    def _actions(self) -> dict[str, Callable[[], object]]:
        area = self._area
        row, column = here = area.cursor_location
        end = (row, len(area.document.get_line(row)))
        right = (row, min(end[1], column + self._times))
        return {
            "i": self._insert,
            "a": lambda: self._insert((row, min(end[1], column + 1))),
            "I": lambda: self._insert((row, 0)),
            "A": lambda: self._insert(end),
            "o": lambda: self._open(end, (row + 1, 0)),
            "O": lambda: self._open((row, 0), (row, 0)),
            "x": lambda: self._cut(here, right),
            "X": lambda: self._cut((row, max(0, column - self._times)), here),
            "D": lambda: self._cut(here, end),
            "C": lambda: self._change(here, end),
            "s": lambda: self._change(here, right),
            "S": lambda: self._change((row, 0), end),
            "p": lambda: area.insert(self._register * self._times, self._behind()),
            "P": lambda: area.insert(self._register * self._times, self._before()),
            "u": area.undo,
        }

    def _open(self, place: Place, line: Place) -> None:
        """Begin a new line."""
        self._area.insert("\n", place)
        self._insert(line)

    def _change(self, start: Place, end: Place) -> None:
        """Type something else in that place."""
        self._cut(start, end)
        self._insert()

    def _insert(self, place: Place | None = None) -> None:
        if place is not None:
            self._area.move_cursor(place)
        self.normal = False

    def _operated(self, key: str) -> None:
        """Carry out the operator over what the motion covers; twice the operator is the line."""
        if key in _FINDS:
            self._find = key
            return
        row, column = self._area.cursor_location
        if key == self._operator:
            last = min(self._area.document.line_count - 1, row + self._times - 1)
            self._lines(row, last)
        elif key in "iw":  # the word itself, with or without what stands around it
            self._operator += key
            if key == "w":
                self._word(inner=self._operator[1:-1] == "i")
            return
        else:
            target = self._target(key)
            if target is not None:
                past = (target[0], target[1] + 1) if key in ("e", "$") and target[0] == row else target
                self._apply(*sorted(((row, column), past)))
        self._forget()

    def _word(self, *, inner: bool) -> None:
        row, column = self._area.cursor_location
        line = self._area.document.get_line(row)
        word = next((one for one in _WORD.finditer(line) if one.start() <= column < one.end()), None)
        operator, self._operator = self._operator[0], self._operator[0]
        if inner and word is not None:
            self._apply((row, word.start()), (row, word.end()))
        elif not inner:
            target = self._target("w")
            past = word.end() if operator == "c" and word is not None else None
            if past is not None:
                self._apply((row, column), (row, past))
            elif target is not None:
                self._apply((row, column), target if target[0] == row else (row, len(line)))
        self._forget()

    def _lines(self, first: int, last: int) -> None:
        document = self._area.document
        end = (last, len(document.get_line(last)))
        self._register = document.get_text_range((first, 0), end) + "\n"
        if self._operator == "y":
            return
        if self._operator == "c":
            self._area.delete((first, 0), end)
            self._insert((first, 0))
        elif last + 1 < document.line_count:
            self._area.delete((first, 0), (last + 1, 0))
        else:
            begin = (first - 1, len(document.get_line(first - 1))) if first else (0, 0)
            self._area.delete(begin, end)

    def _apply(self, start: Place, end: Place) -> None:
        operator = self._operator[0]
        self._register = self._area.document.get_text_range(start, end)
        if operator == "y":
            self._area.move_cursor(start)
            return
        self._area.delete(start, end)
        if operator == "c":
            self._insert(start)

    def _cut(self, start: Place, end: Place) -> None:
        if start != end:
            self._register = self._area.document.get_text_range(start, end)
            self._area.delete(start, end)

    def _before(self) -> Place:
        row, column = self._area.cursor_location
        return (row, 0) if self._register.endswith("\n") else (row, column)

    def _behind(self) -> Place:
        row, column = self._area.cursor_location
        length = len(self._area.document.get_line(row))
        if not self._register.endswith("\n"):
            return (row, min(length, column + 1))
        if row + 1 < self._area.document.line_count:
            return (row + 1, 0)
        self._area.insert("\n", (row, length))
        return (row + 1, 0)

    def _found(self, sign: str) -> None:
        row, column = self._area.cursor_location
        line = self._area.document.get_line(row)
        at = column
        for _ in range(self._times):
            at = line.find(sign, at + 1)
            if at < 0:
                break
        short = self._find == "t"
        if at >= 0 and self._operator:
            self._apply((row, column), (row, at if short else at + 1))
        elif at >= 0:
            self._area.move_cursor((row, at - 1 if short else at))
        self._forget()

    def _target(self, key: str) -> Place | None:
        """Where a motion leads, None for a key that is none."""
        row, column = self._area.cursor_location
        document = self._area.document
        length = len(document.get_line(row))
        places: dict[str, Callable[[], Place]] = {
            "h": lambda: (row, max(0, column - self._times)),
            "l": lambda: (row, min(length, column + self._times)),
            " ": lambda: (row, min(length, column + self._times)),
            "j": lambda: (min(document.line_count - 1, row + self._times), column),
            "k": lambda: (max(0, row - self._times), column),
            "0": lambda: (row, 0),
            "^": lambda: (row, length - len(document.get_line(row).lstrip())),
            "$": lambda: (row, max(0, length - 1)),
            "G": lambda: document.end,
            "g": lambda: (0, 0),
            "w": lambda: self._over_words(key),
            "e": lambda: self._over_words(key),
            "b": lambda: self._over_words(key),
        }
        found = places.get(key)
        return found() if found is not None else None

    def _over_words(self, key: str) -> Place:
        row, column = self._area.cursor_location
        text = self._area.text
        at = len("\n".join(text.split("\n")[:row])) + (1 if row else 0) + column
        words = list(_WORD.finditer(text))
        for _ in range(self._times):
            if key == "w":
                at = next((one.start() for one in words if one.start() > at), len(text))
            elif key == "e":
                at = next((one.end() - 1 for one in words if one.end() - 1 > at), max(0, len(text) - 1))
            else:
                at = next((one.start() for one in reversed(words) if one.start() < at), 0)
        before = text[:at]
        return before.count("\n"), len(before.rpartition("\n")[2])

    @property
    def _times(self) -> int:
        return min(int(self._count or 1), 9999)

    def _forget(self) -> None:
        self._count = self._operator = self._find = ""
