"""The skills of a session: where they are looked for, which are active, what of them is shown to the model and when."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.app.composition.project import Project
from agentforge.config.paths import config_dir, home_dir
from agentforge.config.settings import Settings
from agentforge.errors import UsageError
from agentforge.frozen import dataclass
from agentforge.safety.policy.modes import Consent
from agentforge.safety.policy.permission import Rule, read_rule
from agentforge.skills import Catalogue, Skill, SkillMatch, find_skills, matching, read_body
from agentforge.tokens import count_tokens, cut_middle
from agentforge.tools.base import Tool

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop

    pass

_BROUGHT = (".agentforge/skills", ".agents/skills", ".claude/skills", ".skills")
_BODY_TOKENS = 5_000
_FILES_SHOWN = 30
_ALWAYS = frozenset({"read_file", "ask_human", "todos"})
"""Tools that no skill takes away: its references are read with the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivatedSkills:
    """What a message of the user makes of the skills.

    Attributes:
        active: names, after this message.
        notes: bodies that go with the message.
        told: skills that the message itself called for: {name, reason, why, file, lines}.
    """

    active: tuple[str, ...]
    notes: tuple[str, ...] = ()
    told: tuple[Mapping[str, object], ...] = ()


class Skills:
    """The skills that a session knows. Nothing is read before it is needed, nothing of the project before trust."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    @property
    def enabled(self) -> bool:
        """Whether skills are used at all."""
        return self._workshop.settings.flag("skills_enabled") and not self._workshop.options.bare

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """The folders that are looked through, in their order; those that are there and may be used."""
        return tuple(place for place, usable in self.places() if usable)

    def places(self) -> list[tuple[Path, bool]]:
        """Every folder in which skills can lie, and whether it is used."""
        return skill_places(self._workshop.around.project, self._workshop.environ)

    @cached_property
    def catalogue(self) -> Catalogue:
        """All skills that were found."""
        catalogue = find_skills(self.roots)
        for one in catalogue.skipped:
            self._workshop.around.project.notice(f"skill skipped: {one.reason}")
        return catalogue

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the active skills."""
        value = self._workshop.log.state.talk.settings.get("skills", ())
        return tuple(str(one) for one in value) if isinstance(value, list | tuple) else ()

    def chosen(self, message: str) -> ActivatedSkills:
        """What a message makes of the skills: whom it calls for, and which bodies the model has not seen."""
        if not self.enabled or not (self.active or any(root.is_dir() for root in self.roots)):
            return ActivatedSkills(active=self.active)

        known = self.catalogue.skills
        matches = matching(message, known.values())
        active = tuple(dict.fromkeys((*self.active, *(match.skill.name for match in matches))))
        seen = "\n".join(entry.text for entry in self._workshop.log.state.talk.entries if entry.kind == "user")
        fresh = [known[name] for name in active if name in known and _mark(known[name]) not in seen]
        told = tuple(_told(match) for match in matches if match.skill.name not in self.active)
        return ActivatedSkills(active=active, notes=tuple(map(body_note, fresh)), told=told)

    def find(self, name: str) -> Skill:
        """A skill by its name or another of its names.

        Raises:
            UsageError: there is none.
        """
        known = self.catalogue.skills
        wanted = name.strip().casefold()
        for skill in known.values():
            names = (skill.name, *skill.aliases, *skill.titles, skill.folder.name)
            if wanted in (one.casefold().removeprefix("/") for one in names):
                return skill
        near = get_close_matches(wanted, known, n=1)
        raise UsageError(
            f"there is no skill {name!r}", hint=f"did you mean {near[0]}?" if near else "/skills lists them"
        )

    def narrowed(self, tools: dict[str, Tool]) -> dict[str, Tool]:
        """The tools that the active skills leave: those that one of them names, when any of them names tools."""
        lists = [skill.allowed_tools for skill in self._active_skills() if skill.allowed_tools is not None]
        if not lists:
            return tools
        allowed = {name for names in lists for name in names} | _ALWAYS
        return {name: tool for name, tool in tools.items() if name in allowed}

    def readable(self) -> tuple[Path, ...]:
        """Folders outside the workspace from which files may be read: those of the active skills."""
        return tuple(skill.folder.resolve() for skill in self._active_skills())

    def rules(self) -> tuple[Rule, ...]:
        """The permission to read them."""
        return tuple(
            read_rule(f"read_file({folder}/**)", Consent.ALLOW, origin="an active skill") for folder in self.readable()
        )

    def _active_skills(self) -> list[Skill]:
        if not self.active or not self.enabled:
            return []
        known = self.catalogue.skills
        return [known[name] for name in self.active if name in known]


def look_for_skills(
    folder: Path, *, settings: Settings, environ: Mapping[str, str]
) -> tuple[Catalogue, tuple[str, ...]]:
    """The skills that a session in a folder would know, and what is left out for want of trust."""
    project = Project(folder, settings=settings, environ=environ)
    catalogue = find_skills(place for place, used in skill_places(project, environ) if used)
    return catalogue, tuple(project.notices)


def skill_places(project: Project, environ: Mapping[str, str]) -> list[tuple[Path, bool]]:
    """Every folder in which skills can lie, in the order in which the first of a name wins.

    Returns:
        The folder, and whether it is used: it is there, and when the project brings it, it is trusted.
    """
    home = home_dir(environ)
    brought = [top / name for top in project.tops for name in _BROUGHT]
    given = [project.tops[0] / Path(text).expanduser() for text in _configured(project)]
    own = [home / ".agents" / "skills", config_dir(environ) / "skills", home / ".claude" / "skills"]
    places: dict[Path, bool] = {}
    for place in (*brought, *given, *own):
        places.setdefault(place, place.is_dir() and _may_be_used(place, project))
    return list(places.items())


def _may_be_used(place: Path, project: Project) -> bool:
    """What lies inside the project needs trust, and trust covers only what it lists."""
    top = project.top_of(place)
    if top is None:
        return True
    covered = {top / name for name in _BROUGHT} | {top / text for text in project.own_setting("skill_roots")}
    if place not in covered:
        project.notice(f"{place} is not used: name it in the project's own skill_roots, so that trust covers it")
        return False
    return project.holds("skill")


def _configured(project: Project) -> list[str]:
    return cast("list[str]", project.setting("skill_roots", kind="skill") or [])


def body_note(skill: Skill) -> str:
    """The body of a skill as the model reads it, with the files that it may ask for; cut where it is too long."""
    body = read_body(skill.file)
    if count_tokens(body) > _BODY_TOKENS:
        body = cut_middle(body, limit=_BODY_TOKENS - 100)
        body += (
            f"\n\n(The skill is longer than {_BODY_TOKENS} tokens and was cut; read_file {skill.file} for the rest.)"
        )
    files = _files_of(skill)
    more = f"\n\nFiles of this skill, in {skill.folder} (read_file them when you need them): {files}" if files else ""
    return f"{_mark(skill)}\n{body}{more}\n</skill>"


def _told(match: SkillMatch) -> Mapping[str, object]:
    """A skill that a message called for, for people."""
    skill = match.skill
    lines = len(read_body(skill.file).splitlines())
    return {"name": skill.name, "reason": match.reason, "why": match.why, "file": str(skill.file), "lines": lines}


def _mark(skill: Skill) -> str:
    return f'<skill name="{skill.name}">'


def _files_of(skill: Skill) -> str:
    names = sorted(
        path.relative_to(skill.folder).as_posix()
        for folder in ("references", "scripts", "assets")
        for path in (skill.folder / folder).rglob("*")
        if path.is_file()
    )
    more = f" and {len(names) - _FILES_SHOWN} more" if len(names) > _FILES_SHOWN else ""
    return ", ".join(names[:_FILES_SHOWN]) + more
