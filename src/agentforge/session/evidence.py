"""Evidence in reports: places written as path:line, and whether they are there."""

from __future__ import annotations

import re
from pathlib import Path

from agentforge.frozen import dataclass

_PLACE = re.compile(r"(?<![\w/.:-])((?:[\w.-]+/)*[\w-][\w.-]*\.\w+):(\d{1,7})(?:-(\d{1,7}))?(?![\w/])")
_MOST = 200
_LARGEST_BYTES = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What became of the places that a text names.

    Attributes:
        found: `path:line` that exist, each once, in the order of the text.
        missing: those that do not, each with the reason.
    """

    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def told(self) -> str:
        """One line for people and models."""
        if not self.found and not self.missing:
            return "evidence: no place is named as path:line"
        wrong = f"; not there: {', '.join(self.missing)}" if self.missing else ""
        return f"evidence: {len(self.found)} of {len(self.found) + len(self.missing)} places are there{wrong}"


def check_evidence(text: str, root: Path) -> Evidence:
    """Look up every `path:line` of a text in a folder."""
    found: list[str] = []
    missing: list[str] = []
    lengths: dict[str, int] = {}
    for match in list(_PLACE.finditer(text))[:_MOST]:
        path, last = match[1], int(match[3] or match[2])
        place = match[0]
        if place in found or any(one.startswith(f"{place} ") for one in missing):
            continue
        if path not in lengths:
            lengths[path] = _lines(root / path, root)
        if lengths[path] < 0:
            missing.append(f"{place} (no such file)")
        elif not 1 <= last <= lengths[path]:
            missing.append(f"{place} (the file has {lengths[path]} lines)")
        else:
            found.append(place)
    return Evidence(found=tuple(found), missing=tuple(missing))


def _lines(file: Path, root: Path) -> int:
    """How many lines a file has, -1 when there is none in the folder."""
    try:
        real = file.resolve()
        if not real.is_relative_to(root.resolve()) or not real.is_file() or real.stat().st_size > _LARGEST_BYTES:
            return -1
        return len(real.read_bytes().splitlines())
    except OSError:  # not ours to read: no evidence
        return -1
