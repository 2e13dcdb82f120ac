"""New against the base: the places of changed files that the files had nowhere before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Read = Callable[[str], bytes | None]
Reader = Callable[[str, bytes], Iterable[tuple[int, str]]]
"""Given a path and the file's bytes, names (line, text) of the places of one kind."""
_MOST_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place that the base does not have."""

    path: str
    line: int
    text: str


def new_places(changed: Iterable[str], reader: Reader, *, before: Read, after: Read) -> tuple[Place, ...]:
    """List the places of changed files that the base does not have; one that only moved, even to another file, is not new."""
    files = tuple(changed)
    known = Counter(text for path in files for _, text in reader(path, before(path) or b""))
    found: list[Place] = []
    for path in files:
        for line, text in reader(path, after(path) or b""):
            if known[text] > 0:
                known[text] -= 1
            else:
                found.append(Place(path=path, line=line, text=text[:_MOST_CHARS]))
    return tuple(found)
