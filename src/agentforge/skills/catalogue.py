"""All skills of a session: the roots are looked through in their order, the first skill of a name wins."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from agentforge.frozen import dataclass
from agentforge.skills.skill import FILE, Skill, SkillInvalid, read_skill

_DEEPEST = 6
_MOST_FOLDERS = 2_000
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "vendor", "references", "assets", "scripts"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A SKILL.md that is not used, and why."""

    file: Path
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The skills that can be used.

    Attributes:
        skills: by name, in the order in which they were found.
        skipped: what was found and is not used.
    """

    skills: Mapping[str, Skill]
    skipped: tuple[Skipped, ...] = ()


def find_skills(roots: Iterable[Path]) -> Catalogue:
    """Look for skills below the roots, recursively; a broken one hurts no other."""
    found: dict[str, Skill] = {}
    skipped: list[Skipped] = []
    for file in _files(roots):
        try:
            skill = read_skill(file)
        except SkillInvalid as exc:
            skipped.append(Skipped(file=file, reason=str(exc)))
            continue
        if skill.name in found:
            first = found[skill.name].file
            skipped.append(Skipped(file=file, reason=f"the name {skill.name!r} is taken by {first}"))
            continue
        found[skill.name] = skill
    return Catalogue(skills=found, skipped=tuple(skipped))


def _files(roots: Iterable[Path]) -> Iterator[Path]:
    seen: set[Path] = set()
    for root in roots:
        for file in _below(root):
            real = file.resolve()
            if real not in seen:
                seen.add(real)
                yield file


def _below(root: Path) -> Iterator[Path]:
    """Every SKILL.md below a folder, breadth first."""
    pending, looked = [(root, 0)], 0
    while pending and looked < _MOST_FOLDERS:
        folder, depth = pending.pop(0)
        looked += 1
        if (folder / FILE).is_file():
            yield folder / FILE
        if depth < _DEEPEST:
            pending += [(child, depth + 1) for child in _folders(folder)]


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [one.name for one in entries if one.is_dir() and not one.name.startswith(".")]
    except OSError:  # not there, or not ours to read: no skills in it
        return []
    return [folder / name for name in sorted(names) if name not in _SKIPPED]
