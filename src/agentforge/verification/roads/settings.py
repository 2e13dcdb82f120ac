"""Settings that could be read before a change and cannot be read after it, and what a build says of the project."""

from __future__ import annotations

import configparser
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.parser import Parser
from pathlib import PurePosixPath
from typing import Any

from agentforge.errors import ToolchainError
from agentforge.suite import Rig
from agentforge.verification.inert.context import text_of
from agentforge.verification.roads.program import carried_out
from agentforge.workspace.git.repository import Read

_METADATA_S = 60.0
_MANIFEST = "pyproject.toml"
_DEFAULT_BACKEND = "setuptools.build_meta:__legacy__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A file that cannot be read any more, and what its reader says."""

    path: str
    line: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What the project's build says of it after a change.

    Attributes:
        changed: names of the fields that say something else now.
        lost: why they cannot be read any more; "" where they can, or could not at the base either.
        unread: why nothing was compared.
    """

    changed: tuple[str, ...] = ()
    lost: str = ""
    unread: str = ""


def unreadable(paths: Sequence[str], *, before: Read, after: Read) -> tuple[list[str], list[Unreadable]]:
    """Read changed files of settings by their form: TOML, JSON, YAML, INI.

    Returns:
        the paths that were read, and those that could be read at the base and cannot be any more.
    """
    looked, wrong = [], []
    for path in paths:
        reader, data = _reader(path), after(path)
        if reader is None or data is None:
            continue
        problem = _problem(reader, text_of(data))
        if problem is None:
            looked.append(path)
        elif before(path) is not None and _problem(reader, text_of(before(path))) is None:
            line, why = problem
            wrong.append(Unreadable(path=path, line=line, why=f"cannot be read any more: {why}"))
    return looked, wrong


def build_metadata(rig: Rig, *, base_tree: str, tree: str) -> Metadata:
    """Ask the project's build backend what it says of the project, at the base and after the change; offline.

    Side effects: two processes in the sandbox.
    """
    backend = _backend(rig.read(base_tree)(_MANIFEST))
    if backend is None:
        return Metadata(unread="the build at the base cannot be read")
    setup = {"backend": backend[0], "backend_path": list(backend[1])}
    try:
        first, second = (
            carried_out(rig, one, "metadata_program", setup, variables={}, limit_s=_METADATA_S)
            for one in (base_tree, tree)
        )
    except ToolchainError as exc:
        return Metadata(unread=exc.message)
    old, new = (rows[0] if rows else {"error": "the build backend told nothing"} for rows in (first, second))
    if "error" in old:
        return Metadata(unread=str(old["error"]))
    if "error" in new:
        return Metadata(lost=str(new["error"]))
    was, now = _fields(old), _fields(new)
    return Metadata(changed=tuple(name for name in dict.fromkeys([*was, *now]) if was.get(name) != now.get(name)))


def _fields(row: Mapping[str, Any]) -> dict[str, list[str]]:
    message = Parser().parsestr(str(row["metadata"]))
    found: dict[str, list[str]] = {}
    for name, value in message.items():
        found.setdefault(name, []).append(str(value))
    found["Description"] = [str(message.get_payload())]
    return {name: sorted(values) for name, values in found.items()}


def _backend(manifest: bytes | None) -> tuple[str, tuple[str, ...]] | None:
    """The build backend that a manifest names, and the folders of the project that it lies in."""
    try:
        table = tomllib.loads(text_of(manifest)).get("build-system", {})
    except tomllib.TOMLDecodeError:
        return None
    if not isinstance(table, dict):
        return None
    folders = table.get("backend-path", [])
    return str(table.get("build-backend") or _DEFAULT_BACKEND), tuple(str(one) for one in folders)


Reader = Callable[[str], object]


def _reader(path: str) -> Reader | None:
    name = PurePosixPath(path).name
    if name.endswith(".toml"):
        return tomllib.loads
    if name.endswith((".json", ".cff")) or name in (".all-contributorsrc", ".prettierrc", ".eslintrc"):
        return json.loads if not name.endswith(".cff") else _yaml
    if name.endswith((".yml", ".yaml")):
        return _yaml
    return _ini if name.endswith((".ini", ".cfg")) or name in (".flake8", ".pylintrc", ".editorconfig") else None


def _yaml(text: str) -> object:
    """The nodes alone: what a tag of the project's own makes of them is its business."""
    import yaml

    try:
        return list(yaml.compose_all(text, Loader=yaml.CSafeLoader))
    except yaml.MarkedYAMLError as exc:
        raise _BrokenError(str(exc.problem), exc.problem_mark.line + 1 if exc.problem_mark else 0) from exc
    except yaml.YAMLError as exc:
        raise _BrokenError(" ".join(str(exc).split())[:160], 0) from exc


class _BrokenError(ValueError):
    """What a reader says, and the line."""


def _ini(text: str) -> object:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text if text.lstrip().startswith("[") else f"[top]\n{text}")
    return parser


def _problem(reader: Reader, text: str) -> tuple[int, str] | None:
    """The line (0 = not said) and what is wrong; None where the text can be read."""
    try:
        reader(text)
    except json.JSONDecodeError as exc:
        return exc.lineno, exc.msg
    except _BrokenError as exc:
        return int(exc.args[1]), str(exc.args[0])
    except (configparser.Error, ValueError) as exc:
        return 0, " ".join(str(exc).split())[:160]
    return None
