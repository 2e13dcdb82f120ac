"""Where in a workspace a request points: files with lines, texts that it quotes, and words in the paths."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from agentforge.workspace.code.symbols import language_of
from agentforge.workspace.files import search
from agentforge.workspace.files.pointers import Pointers

_MOST_ALIKE = 4  # files of one name; more say nothing
_MOST_QUOTED = 12  # places of one quoted text; more say nothing
_README = re.compile(r"readme(?:\.\w+)?", re.IGNORECASE)


def holding(names: Sequence[str], stems: Sequence[str]) -> set[str]:
    """The paths that hold one of the stems, letter case ignored; all of them are searched as one text."""
    lowered = "\0".join(names).lower()
    if lowered.count("\0") + 1 != len(names) or len(lowered) != sum(map(len, names)) + len(names) - 1:
        return {name for name in names if any(one in name.lower() for one in stems)}  # a letter that grows
    ends = list(accumulate(len(name) + 1 for name in names))
    found = set[str]()
    for one in stems:
        at = lowered.find(one)
        while at >= 0:
            place = bisect_right(ends, at)
            found.add(names[place])
            at = lowered.find(one, ends[place])
    return found


def pointed_places(
    root: Path, text: str, pointers: Pointers, names: Sequence[str], *, where: frozenset[str] | None = None
) -> dict[str, dict[int, float]]:
    """The lines of files that the request points at or quotes, and how sure that is; line 0 is the file as a whole.

    Args:
        where: the only files that can hold a phrase; None = any.
    """
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for end, line in pointers.files:
        parts = end.replace("\\", "/").lstrip("/").split("/")
        for start in range(len(parts)):  # the path of somebody else's machine ends like ours
            tail = "/".join(parts[start:])
            fitting = [name for name in names if name == tail or name.endswith(f"/{tail}")]
            if fitting:
                sure = 1.0 if len(parts) == 1 or start < len(parts) - 1 else 0.5
                found_here = fitting[:_MOST_ALIKE] if len(fitting) <= _MOST_ALIKE else ()
                for name in found_here:
                    found[name][line] = sure / len(fitting)
                break
    if readme := next((name for name in names if _README.fullmatch(name)), ""):
        found.update({readme: {0: 1.0}} if re.search(r"\bREADME\b", text) and readme not in found else {})
    if pointers.phrases:
        known, hits = set(names), defaultdict(set)
        for path, line, phrase in search.phrases(root, pointers.phrases, within=where):
            if path in known and language_of(path):
                hits[phrase].add((path, line))
        for places in hits.values():
            for path, line in places if len(places) <= _MOST_QUOTED else ():
                found[path][line] = max(found[path].get(line, 0.0), 1.0 / len({one for one, _ in places}))
    return found
