"""One skill: its SKILL.md read, and judged by the specification.

Source: agentskills.io specification (name, description, license, compatibility, metadata, allowed-tools).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from agentforge.errors import ConfigError
from agentforge.frozen import dataclass

FILE = "SKILL.md"
_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 1024
_LONGEST_COMPATIBILITY = 500
_LARGEST = 1_000_000
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_ALIAS_KEYS = ("aliases", "alias")
_TITLE_KEYS = ("command", "command_name", "command-name", "display", "display_name", "display-name", "title")
_FOREIGN_TOOLS: Mapping[str, str] = {
    "Bash": "shell", "Read": "read_file", "Write": "write_file", "Edit": "edit", "MultiEdit": "edit", "Grep": "grep",
    "Glob": "glob", "LS": "list_dir", "WebFetch": "web_fetch", "WebSearch": "web_search", "TodoWrite": "todos",
}  # fmt: skip
"""Names under which other programs know the same tools."""


class SkillInvalid(ConfigError):
    """A SKILL.md that cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill as it was found.

    Attributes:
        name: unique; the folder's name where the file gives none.
        file: its SKILL.md.
        aliases: other names by which a person may call it.
        titles: command and display names.
        allowed_tools: names of the tools that it needs; None = it says nothing.
        metadata: everything else of the front matter.
    """

    name: str
    description: str
    file: Path
    aliases: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] | None = None
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, object]

    @property
    def folder(self) -> Path:
        """Where it and its references are."""
        return self.file.parent


def read_skill(file: Path) -> Skill:
    """Read the front matter of a SKILL.md; the body is left on the disk.

    Raises:
        SkillInvalid: it cannot be read, has no front matter, or has no description.
    """
    values = _front_matter(file)
    folder = file.parent.name
    name = str(values.get("name") or folder).strip()
    description = values.get("description")
    if not isinstance(description, str) or not description.strip():
        raise SkillInvalid(f"{file}: there is no description", hint="say in one sentence when to use the skill")
    return Skill(
        name=name,
        description=" ".join(description.split()),
        file=file,
        aliases=_words(values, _ALIAS_KEYS),
        titles=_words(values, _TITLE_KEYS),
        allowed_tools=_tools(values),
        license=str(values.get("license") or ""),
        compatibility=str(values.get("compatibility") or ""),
        metadata=cast("Mapping[str, object]", values.get("metadata") or {}),
    )


def read_body(file: Path) -> str:
    """The instructions of a skill, without its front matter.

    Raises:
        SkillInvalid: it cannot be read.
    """
    return _parts(file)[1].strip()


def problems(skill: Skill) -> tuple[str, ...]:
    """What the specification does not allow of a skill that can be used all the same."""
    found = []
    if len(skill.name) > _LONGEST_NAME or not _NAME.fullmatch(skill.name):
        found.append(f"name {skill.name!r} is not 1-{_LONGEST_NAME} lower-case letters, digits and single hyphens")
    if skill.name != skill.folder.name:
        found.append(f"name {skill.name!r} is not that of its folder {skill.folder.name!r}")
    if len(skill.description) > _LONGEST_DESCRIPTION:
        found.append(f"the description has {len(skill.description)} characters, at most {_LONGEST_DESCRIPTION}")
    if len(skill.compatibility) > _LONGEST_COMPATIBILITY:
        found.append(f"compatibility has {len(skill.compatibility)} characters, at most {_LONGEST_COMPATIBILITY}")
    return tuple(found)


def _front_matter(file: Path) -> Mapping[str, object]:
    import yaml

    text = _parts(file)[0]
    try:
        value = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # both are safe loaders
    except (yaml.YAMLError, ValueError, RecursionError) as exc:
        told = " ".join(str(exc).split())[:200]
        raise SkillInvalid(
            f"{file}: the front matter is no valid YAML: {told}", hint="quote texts with a colon"
        ) from exc
    if not isinstance(value, Mapping):
        raise SkillInvalid(f"{file}: the front matter is no table", hint="write `name:` and `description:`")
    return cast("Mapping[str, object]", value)


def _parts(file: Path) -> tuple[str, str]:
    """Front matter and body."""
    try:
        if file.stat().st_size > _LARGEST:
            raise SkillInvalid(f"{file} is larger than {_LARGEST:,} bytes", hint="move parts to references/")
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as exc:
        raise SkillInvalid(f"{file} cannot be read: {exc.strerror}", hint="check its rights") from exc
    except UnicodeDecodeError as exc:
        raise SkillInvalid(f"{file} is not UTF-8: byte {exc.start}", hint="save it as UTF-8") from exc
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != "---":
        raise SkillInvalid(f"{file}: there is no front matter", hint="begin the file with a line ---")
    ends = [number for number, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"]
    if not ends:
        raise SkillInvalid(f"{file}: the front matter does not end", hint="close it with a line ---")
    return "\n".join(lines[1 : ends[0]]), "\n".join(lines[ends[0] + 1 :])


def _words(values: Mapping[str, object], keys: tuple[str, ...]) -> tuple[str, ...]:
    found: list[str] = []
    for key in keys:
        value = values.get(key)
        found += [value] if isinstance(value, str) else [str(one) for one in value] if isinstance(value, list) else []
    return tuple(word.strip() for word in found if word.strip())


def _tools(values: Mapping[str, object]) -> tuple[str, ...] | None:
    value = values.get("allowed-tools", values.get("allowed_tools"))
    if value is None:
        return None
    words = [str(one) for one in value] if isinstance(value, list) else _split(str(value))
    names = [word.partition("(")[0].strip() for word in words]
    return tuple(dict.fromkeys(_FOREIGN_TOOLS.get(name, name) for name in names if name))


def _split(text: str) -> list[str]:
    """Words between spaces and commas; what stands in brackets belongs to its word: `Bash(git log:*) Read`."""
    return re.findall(r"[^\s,()]+(?:\([^)]*\))?", text)
