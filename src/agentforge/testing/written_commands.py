"""Reads how a Python project says that its tests run: tox, nox, hatch and other task runners, make, and what CI runs."""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

_TASKS = (("tool", "hatch", "envs"), ("tool", "hatch", "scripts"), ("tool", "pdm", "scripts"), ("tool", "poe", "tasks"),
          ("tool", "taskipy", "tasks"), ("tool", "rye", "scripts"), ("tool", "pixi", "tasks"), ("tool", "tox"))  # fmt: skip
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile", "justfile", "tasks.py", "Taskfile.yml")
_CI = (".travis.yml", ".gitlab-ci.yml", "azure-pipelines.yml", "appveyor.yml", ".circleci/config.yml")
_NO_COMMAND = frozenset({"install", "add", "in", "download", "uninstall", "name:", "show", "which"})
_DECLARES = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "Pipfile", "environment.yml", "noxfile.py")
_TOX_DEFAULT = re.compile(r"\{posargs:([^{}]*)\}")
_REQUIRED = re.compile(r"(?:^|[\s\"'\[,=:(])(pytest)(?=$|[\s\"'\],;\[<>=~!)])", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCommand:
    """One command that a project has written down for its tests.

    Attributes:
        file: where it stands.
        runner: pytest or unittest.
        paths: what of its arguments exists in the repository.
    """

    file: str
    runner: str
    paths: tuple[str, ...]


def written_commands(repo: Path, names: Sequence[str]) -> list[WrittenCommand]:
    """List the commands that start pytest or unittest, in the order in which they are to be believed."""
    found: list[WrittenCommand] = []
    for file, command in _commands(repo, names):
        told = _read(command, repo)
        if told is not None:
            found.append(WrittenCommand(file=file, runner=told[0], paths=told[1]))
    return found


def requires_pytest(repo: Path, names: Sequence[str]) -> str:
    """The file in which the project says that it needs pytest; empty when none does."""
    listed = [name for name in names if PurePosixPath(name).suffix in (".txt", ".in") and "require" in name.lower()]
    for name in (*_DECLARES, *listed):
        if name in names and _REQUIRED.search(_without_comments(_text(repo / name))):
            return name
    return ""


def read_toml(path: Path) -> dict[str, Any]:
    """The table of a TOML file; {} when there is none, or it is none."""
    try:
        return tomllib.loads(path.read_text("utf-8", "replace"))
    except (tomllib.TOMLDecodeError, OSError):
        return {}


def read_ini(path: Path) -> configparser.RawConfigParser:
    """The sections of an ini file; none when it cannot be read."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(path.read_text("utf-8", "replace"))
    except (configparser.Error, OSError):
        return configparser.RawConfigParser()
    return parser


def _commands(repo: Path, names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Every command that is written down, as words, with the file that holds it."""
    if "tox.ini" in names:
        parser = read_ini(repo / "tox.ini")
        for section in parser.sections():
            if section.startswith("testenv") and parser.has_option(section, "commands"):
                lines = _joined(parser.get(section, "commands") or "").splitlines()
                yield from (("tox.ini", _words(line)) for line in lines)
    if "noxfile.py" in names:
        yield from (("noxfile.py", words) for words in _nox_commands(_text(repo / "noxfile.py")))
    if "pyproject.toml" in names:
        project = read_toml(repo / "pyproject.toml")
        for way in _TASKS:
            yield from (("pyproject.toml", words) for words in _strings(_below(project, way)))
    steering = (name for name in names if name.startswith(".github/workflows/"))
    workflows = sorted(name for name in steering if re.fullmatch(r"\.github/workflows/[^/]+\.ya?ml", name))
    for name in (*_MAKEFILES, *workflows, *_CI):
        if name in names:
            yield from ((name, _words(line)) for line in _joined(_text(repo / name)).splitlines() if "test" in line)


def _read(words: Sequence[str], repo: Path) -> tuple[str, tuple[str, ...]] | None:
    """The runner that a command starts and the paths that it is given; None where it starts neither."""
    for at, word in enumerate(words):
        before = words[:at]
        if _NO_COMMAND & set(before):
            return None
        name = word.rpartition("/")[2].rpartition(":")[2]
        if name in ("pytest", "py.test"):
            runner = "pytest"
        elif name == "unittest" and before[-1:] == ["-m"]:
            runner = "unittest"
        else:
            continue
        given = [one.removeprefix("./").rstrip("/") for one in words[at + 1 :] if not one.startswith("-")]
        return runner, tuple(
            one for one in given if one and "{" not in one and "$" not in one and (repo / one).exists()
        )
    return None


def _words(line: str) -> list[str]:
    plain = line.strip().removeprefix("-").strip().removeprefix("run:").strip().lstrip("@|$").strip()
    return [] if plain.startswith("#") else re.split(r"[\s\"'`,]+", plain)


def _joined(text: str) -> str:
    """Commands with each on one line, and with what tox puts in where nothing is given (`{posargs:tests}`)."""
    return _TOX_DEFAULT.sub(r" \1 ", re.sub(r"\\\n\s*", " ", text))


def _nox_commands(text: str) -> Iterator[list[str]]:
    """The words of each `session.run(...)` of a noxfile that are written out."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("run", "run_always")
        ):
            yield [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _below(table: Mapping[str, Any], way: Sequence[str]) -> Any:
    value: Any = table
    for name in way:
        value = value.get(name, {}) if isinstance(value, dict) else {}
    return value


def _strings(value: Any) -> Iterator[list[str]]:
    """Every command below a table of tasks: a line, or a list of words."""
    if isinstance(value, str):
        yield from (_words(line) for line in value.splitlines())
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        plain = [one for one in value if isinstance(one, str)]
        if plain:
            yield plain
        for inner in value:
            yield from _strings(inner)


def _without_comments(text: str) -> str:
    return re.sub(r"(?m)(?:^|\s)#.*$", "", text)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
