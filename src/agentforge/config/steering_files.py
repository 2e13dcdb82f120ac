"""What of a project would run or steer something: one list of files and settings, each with its digest. Nothing is loaded."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Literal

from agentforge.canonical import digest_bytes, digest_value
from agentforge.config.defaults import DEFAULTS
from agentforge.config.paths import config_dir, project_files
from agentforge.config.protections import weakened
from agentforge.config.repositories import contracts_folders
from agentforge.config.sources import Layer, dotted, merged, read_toml, read_yaml
from agentforge.contracts.strict_yaml import load_strict
from agentforge.errors import ConfigError, ContractInvalid
from agentforge.frozen import dataclass

Kind = Literal[
    "hook",
    "tool",
    "check",
    "stage",
    "contract",
    "skill",
    "mcp",
    "environment",
    "settings",
    "protection",
    "instructions",
]

OF_A_TASK: tuple[Kind, ...] = ("hook", "tool", "check", "stage", "contract")
"""What a task of the pipeline uses of a project; skills, servers and instructions are the interactive agent's."""

OF_A_CONVERSATION: tuple[Kind, ...] = ("mcp", "hook", "tool", "skill", "instructions", "environment", "settings")
"""What a conversation uses of a project."""

OF_OTHER_AGENTS = frozenset({".claude/settings.json", ".claude/settings.local.json"})
"""What only agents of other makers use, which a task may be given to; a conversation has no use for it."""

_FOLDERS: Mapping[str, Kind] = {
    ".agentforge/hooks": "hook",
    ".agentforge/tools": "tool",
    ".agentforge/checks": "check",
    ".agentforge/stages": "stage",
    ".agentforge/skills": "skill",
    ".agents/skills": "skill",
    ".claude/skills": "skill",
    ".skills": "skill",
}
_FILES: Mapping[str, Kind] = {
    ".mcp.json": "mcp",
    ".agentforge/mcp.json": "mcp",
    ".agentforge/mcp.toml": "mcp",
    ".env": "environment",
    ".agentforge/.env": "environment",
    ".claude/settings.json": "hook",
    ".claude/settings.local.json": "hook",
    "AGENTS.md": "instructions",
    "AGENT.MD": "instructions",
    "CLAUDE.md": "instructions",
    ".agentforge/AGENTS.md": "instructions",
}
_SETTINGS: Mapping[str, Kind] = {
    "hooks": "hook",
    "mcp_servers": "mcp",
    "subagents": "settings",
    "skill_roots": "skill",
    "shell_environment": "environment",
    "developer_instructions": "instructions",
    "user_instructions": "instructions",
}
INSTRUCTION_FILES = ("AGENTS.md", "AGENT.MD", "CLAUDE.md")
"""What a folder says to an agent: the first of these that is there."""
_SKIPPED = frozenset({"__pycache__", ".git", "node_modules", "venv", "site-packages"})
_MOST_FOLDERS = 20_000
_MOST_FILES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that would run or steer.

    Attributes:
        name: a path relative to the project, or `FILE: key` for a setting.
        digest: of its bytes and of where it leads, when it is a link.
    """

    name: str
    kind: Kind
    digest: str


def steering_items(project: Path, environ: Mapping[str, str], *, deep: bool = True) -> tuple[Item, ...]:
    """List what a project would run or be steered by, sorted by name; what cannot be read counts, too.

    Args:
        environ: the user's environment: where the own settings lie, which a project's are compared with.
        deep: look for instructions in every folder, too; that walks through the whole project.
    Raises:
        ConfigError: more files than anybody could look through.
    """
    found: dict[str, Item] = {}
    for item in chain(_all(project, environ), _instructions_below(project) if deep else ()):
        found.setdefault(item.name, item)
        if len(found) > _MOST_FILES:
            raise ConfigError(
                f"{project} holds more than {_MOST_FILES} hooks, tools, skills and the like",
                hint="move what is not a part of them out of .agentforge",
            )
    return tuple(found[name] for name in sorted(found))


def _all(project: Path, environ: Mapping[str, str]) -> Iterator[Item]:
    for folder, kind in _FOLDERS.items():
        for path in _files_below(project / folder):
            yield _item(project, path, kind)
    for name, kind in _FILES.items():
        path = project / name
        if path.is_symlink() or path.is_file():
            yield _item(project, path, kind)
            yield from _named_scripts(project, _json(path), kind)
    folders = contracts_folders(project, environ)
    for path in sorted(path for folder in folders for path in folder.glob("*.yaml")):
        if _may_run(_bytes(path)):
            yield _item(project, path, "contract")
    own = read_toml(config_dir(environ) / "config.toml", project=False)
    held = merged(layer for layer in (Layer(name="default", values=DEFAULTS), own) if layer is not None)
    toml, yaml = project_files(project)
    for layer in (read_toml(toml, project=True), read_yaml(yaml, project=True)):
        for key, kind in _SETTINGS.items():
            if layer is not None and key in layer.values:
                value = layer.values[key]
                name = f"{Path(layer.name).relative_to(project)}: {key}"
                yield Item(name=name, kind=kind, digest=digest_value(value))
                yield from _named_scripts(project, value, kind)
                if key == "skill_roots":
                    yield from _skill_roots(project, value)
        yield from _weaker_settings(project, layer, held) if layer is not None else ()


def _weaker_settings(project: Path, layer: Layer, held: Mapping[str, object]) -> Iterator[Item]:
    """The settings by which less would be protected than without the project."""
    for key, value in weakened(layer.values, held):
        name = f"{Path(layer.name).relative_to(project)}: {dotted(key)}"
        yield Item(name=name, kind="protection", digest=digest_value(value))


def instruction_item(project: Path, path: Path) -> Item:
    """One file with instructions as it is now."""
    return _item(project, path, "instructions")


def _skill_roots(project: Path, value: object) -> Iterator[Item]:
    """The files of skills that lie elsewhere in the project."""
    for text in value if isinstance(value, list) else ():
        folder = project / str(text)
        if folder.resolve().is_relative_to(project.resolve()):
            for path in _files_below(folder):
                yield _item(project, path, "skill")


def is_nested(name: str) -> bool:
    """Whether an item is found only by looking into every folder."""
    return name not in _FILES and name.rpartition("/")[2] in INSTRUCTION_FILES


def _instructions_below(project: Path) -> Iterator[Item]:
    pending, seen = [project], 0
    while pending and seen < _MOST_FOLDERS:
        folder, seen = pending.pop(), seen + 1
        try:
            entries = sorted(os.scandir(folder), key=lambda one: one.name)
        except OSError:  # a folder that cannot be read holds nothing that could be loaded
            continue
        for entry in entries:
            if entry.name in INSTRUCTION_FILES and (entry.is_symlink() or entry.is_file()):
                yield _item(project, Path(entry.path), "instructions")
            elif entry.is_dir(follow_symlinks=False) and entry.name not in _SKIPPED and not entry.name.startswith("."):
                pending.append(Path(entry.path))


def _may_run(contract: bytes) -> bool:
    """Whether a contract holds a rule that runs a command; one that cannot be read may."""
    if b"command" not in contract and b"\\" not in contract:
        return False

    try:
        return _names_command(load_strict(contract.decode("utf-8-sig"), source="a contract"))
    except (UnicodeDecodeError, ContractInvalid):
        return True


def _names_command(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(str(key).startswith("command") or _names_command(item) for key, item in value.items())
    return isinstance(value, list) and any(_names_command(item) for item in value)


def _files_below(folder: Path) -> Iterator[Path]:
    """Every file below a folder; a link to a folder counts as one thing and is followed for its digest only."""
    if folder.is_symlink():
        yield folder
        return
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name in _SKIPPED:
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files_below(path)
        else:
            yield path


def _item(project: Path, path: Path, kind: Kind) -> Item:
    return Item(name=path.relative_to(project).as_posix(), kind=kind, digest=_digest(path))


def _digest(path: Path) -> str:
    if path.is_symlink():
        inner = (
            [[str(one.relative_to(path.resolve())), _digest(one)] for one in _files_below(path.resolve())]
            if path.is_dir()
            else [_digest(path.resolve())]
        )
        return digest_value(["link", str(path.readlink()), inner])
    return digest_bytes(_bytes(path) + (b"+x" if _is_executable(path) else b""))


def _is_executable(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & 0o111)
    except OSError:
        return False


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.is_file() else b"(no regular file)"
    except OSError as exc:
        return f"(unreadable: {exc.strerror})".encode()


def _json(path: Path) -> object:
    """What a JSON file says; nothing for other files and broken ones, whose bytes count anyway."""
    if path.suffix != ".json":
        return None
    try:
        return json.loads(_bytes(path))
    except ValueError:
        return None


def _named_scripts(project: Path, value: object, kind: Kind) -> Iterator[Item]:
    """Files of the project that a hook or a server is started from: changing them changes what runs."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, Mapping):
            pending += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            pending += one
        elif isinstance(one, str):
            for word in _words(one):
                path = Path(word) if word.startswith("/") else project / word
                if len(word) < 256 and path.is_relative_to(project) and path.is_file():
                    yield _item(project, path, kind)


def _words(text: str) -> list[str]:
    try:
        return [word.removeprefix("./") for word in shlex.split(text) if ".." not in word and "\0" not in word]
    except ValueError:
        return []
