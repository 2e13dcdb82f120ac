"""What a context shows of a change: its files, its definitions, its lines. Only the text that a model reads counts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

_PATH = re.compile(r"[\w@.+-]+(?:/[\w@.+\[\]()-]+)*\.\w+")
_NUMBERED = re.compile(r"\s*(\d+)[:|]?(?: |\t|$)(.*)", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")

_DIGITS = re.compile(r"\d+")
_DECORATORS = 6  # lines that may stand above the line with the name

Share = tuple[int, int]
"""How many were found, of how many."""


@dataclass(slots=True)
class Seen:
    """What is shown about each file: everything from a line that names it to the next line that names another one.

    Attributes:
        rows: the lines as they stand, with or without their number.
        plain: the lines without number, stripped.
        numbered: the lines that bear their number.
    """

    paths: set[str] = field(default_factory=set)
    rows: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    plain: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    numbered: dict[str, set[tuple[int, str]]] = field(default_factory=lambda: defaultdict(set))

    def line(self, path: str, number: int, text: str) -> bool:
        """Tell whether a line of a file is shown; a blank one always is."""
        plain = text.strip()
        return not plain or (number, plain) in self.numbered[path] or plain in self.plain[path]

    def definition(self, path: str, name: str, line: int) -> bool:
        """Tell whether a definition is named together with its line, or its first lines are shown."""
        near = {str(number) for number in range(line, line + _DECORATORS + 1)}
        return any(
            name in row and name in _WORD.findall(row) and near & set(_DIGITS.findall(row)) for row in self.rows[path]
        )


def seen_in(text: str, known: Iterable[str]) -> Seen:
    """Read a context.

    Args:
        known: the paths of the repository; only these are paths.
    """
    seen, all_paths = Seen(), set(known)
    current: list[str] = []
    for row in text.split("\n"):
        numbered = _NUMBERED.fullmatch(row)  # a line of a file, which may speak of other files
        here = [path for path in _PATH.findall(row) if path in all_paths] if numbered is None else []
        if here:
            current = here
            seen.paths.update(here)
        if row.startswith("## ") and not here:
            current = []
        for path in current:
            seen.rows[path].append(row)
            if numbered is not None:
                seen.numbered[path].add((int(numbered[1]), numbered[2].strip()))
            seen.plain[path].add(row.strip())
    return seen


def files_share(seen: Seen, files: Sequence[str]) -> Share:
    """How many of the files are named."""
    return sum(path in seen.paths for path in files), len(files)


def names_share(seen: Seen, places: Sequence[tuple[str, str, int]]) -> Share:
    """How many of the definitions, (path, name, line), are named with their line, or shown."""
    return sum(seen.definition(*place) for place in places), len(places)


def lines_share(seen: Seen, lines: Mapping[str, Mapping[int, str]]) -> Share:
    """How many of the lines, by path and number, are shown."""
    rows = [(path, number, text) for path, inside in lines.items() for number, text in inside.items() if text.strip()]
    return sum(seen.line(*row) for row in rows), len(rows)
