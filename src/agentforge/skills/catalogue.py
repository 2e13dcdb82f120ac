"""All skills of a session: the roots are looked through in their order, the first skill of a name wins.

Which skill a message of the user means: an exact name first, then its other names, then at most one by its words. Pure.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

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


Reason = Literal["name", "alias", "words"]
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_LEAST_SHARED = 3
"""Words of a description that a message has to share with it."""
_LEAST_PART = 0.3
"""Part of the description's words that these have to be."""
_WORDS = """
a about after all also an and any are as ask asks at be been before by but can code could do does each either
else file files for from get give given has have here how i if in into is it its just let like make makes me
more most my need needs new no not of off on one only or other our out over own please project same see should
show skill so some such task tasks than that the their them then there these they this those through to too
tool tools up us use used user users uses using want wants was we well were what when where whenever which
while who why will with without work working would you your
"""
_COMMON = frozenset(_WORDS.split())
"""Words that say nothing about what a skill is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillMatch:
    """A skill that a message means.

    Attributes:
        why: for people: the name that was said, or the words that are shared.
    """

    skill: Skill
    reason: Reason
    why: str


def matching(message: str, skills: Iterable[Skill]) -> tuple[SkillMatch, ...]:
    """Find the skills that a message means.

    Returns:
        Every skill whose exact name is said; where there is none, those called by another of their names; where there are
        none of these either, at most one that shares enough words with the message and more than any other.
    """
    known = tuple(skills)
    said = _words(message)
    by_name = [SkillMatch(skill=skill, reason="name", why=skill.name) for skill in known if _holds(said, skill.name)]
    if by_name:
        return _without_parts(by_name)
    aliases = [
        SkillMatch(skill=skill, reason="alias", why=name)
        for skill in known
        for name in _other_names(skill)
        if _holds(said, name)
    ][:1]
    return tuple(aliases) or _inferred(set(said), known)


def _inferred(said: set[str], known: tuple[Skill, ...]) -> tuple[SkillMatch, ...]:
    scored = sorted(((_score(said, skill), skill) for skill in known), key=lambda one: -one[0][0])
    if not scored or scored[0][0][0] == 0 or (len(scored) > 1 and scored[1][0][0] == scored[0][0][0]):
        return ()  # nothing, or two that fit alike
    (_, shared), skill = scored[0]
    return (SkillMatch(skill=skill, reason="words", why=", ".join(sorted(shared))),)


def _score(said: set[str], skill: Skill) -> tuple[float, frozenset[str]]:
    """How well a message fits, 0 = too little."""
    own = {_stem(word) for word in (*_words(skill.description), *_words(skill.name)) if word not in _COMMON}
    shared = frozenset(own & {_stem(word) for word in said if word not in _COMMON})
    part = len(shared) / len(own) if own else 0.0
    if len(shared) < _LEAST_SHARED or part < _LEAST_PART:
        return 0.0, frozenset()
    return len(shared) + part, shared


def _other_names(skill: Skill) -> tuple[str, ...]:
    return (*skill.aliases, *(title.removeprefix("/") for title in skill.titles), skill.folder.name)


def _holds(said: list[str], name: str) -> bool:
    """Whether a name is said: its words, one after the other. A single common word is no name."""
    wanted = _words(name)
    if not wanted or all(word in _COMMON for word in wanted):
        return False
    return any(said[at : at + len(wanted)] == wanted for at in range(len(said) - len(wanted) + 1))


def _without_parts(found: list[SkillMatch]) -> tuple[SkillMatch, ...]:
    """`frontend design` means frontend-design, not also a skill `design`."""
    names = [_words(one.skill.name) for one in found]
    return tuple(
        one
        for one, words in zip(found, names, strict=True)
        if not any(len(other) > len(words) and _holds(other, one.skill.name) for other in names)
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _stem(word: str) -> str:
    """The word without the endings that English puts on it; rough, the same on both sides."""
    for ending in ("ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
