"""Files that hold a project's own checks (CI, hooks, lint, types, coverage): which of them a change makes say something else."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from agentforge.workspace.git.repository import Read


@dataclass(frozen=True, slots=True, kw_only=True)
class _Family:
    """One sort of check.

    Attributes:
        files: patterns of paths, or of names when they have no slash.
        tables: of `[tool.*]` in pyproject.toml, and sections of setup.cfg and tox.ini up to a `:` or `-`.
        keys: of package.json.
        called: what the check itself is called; a request that holds it, or the name of one of its tools, asks for such a change.
    """

    files: tuple[str, ...]
    called: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """How a request speaks of it: what it and its tools are called. Plain words (types, style, hooks) name no check."""
        return frozenset((*self.called, *self.tables, *self.keys))


_FAMILIES = (
    _Family(
        files=(
            *(".github/workflows/*", ".github/actions/*", ".gitlab-ci.yml", ".circleci/*", ".travis.yml", ".drone.yml"),
            *("Jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".woodpecker.yml", ".buildkite/*"),
        ),
        called=("ci", "workflow", "workflows", "jenkins"),
    ),
    _Family(
        files=(".pre-commit-config.yaml", ".pre-commit-config.yml", ".husky/*", "lefthook.yml", ".lintstagedrc*"),
        called=("pre-commit",),
        keys=("lint-staged", "husky"),
    ),
    _Family(
        files=(
            *(
                "ruff.toml",
                ".ruff.toml",
                ".flake8",
                ".pylintrc",
                "pylintrc",
                ".bandit",
                ".eslintrc*",
                "eslint.config.*",
            ),
            *(".eslintignore", "biome.json", ".golangci.y*ml", "clippy.toml", ".clippy.toml", ".importlinter"),
        ),
        called=("lint", "linter", "linting", "eslint", "biome", "clippy"),
        tables=("ruff", "flake8", "pylint", "bandit", "importlinter"),
        keys=("eslintConfig",),
    ),
    _Family(files=("mypy.ini", ".mypy.ini", "ty.toml", "pyrightconfig.json"), tables=("mypy", "ty", "pyright", "pyre")),
    _Family(
        files=(".coveragerc", "codecov.yml", ".codecov.yml", ".nycrc*", ".c8rc*"),
        called=("codecov",),
        tables=("coverage",),
        keys=("nyc", "c8"),
    ),
)
_CI_COMMANDS = frozenset({"run", "uses", "script", "before_script", "after_script", "command", "commands", "sh"})
_CI_CONDITIONS = frozenset(
    {"if", "on", "true", "when", "only", "except", "rules", "continue-on-error", "allow_failure", "shell"}
)
"""What of a pipeline decides; `on` is read as a truth value by YAML."""
_PYTHON_VERSIONS = frozenset({"target-version", "python_version", "python-version", "pythonVersion", "python"})
"""For which Python a checker reads: that is no check."""
_SHARED = ("pyproject.toml", "setup.cfg", "tox.ini", "package.json")
_VERSION = re.compile(r"@[0-9a-f]{40}|@?v?\d+(?:\.\d+)*")
_WORD = re.compile(r"[a-z0-9][a-z0-9-]*")


def check_changes(changed: Iterable[str], *, before: Read, after: Read, request: str) -> tuple[str, ...]:
    """List the changed paths that alter a check which the base has.

    CI and hooks that the base does not have may be added; a file that steers lint, types or coverage may not, for it can also
    switch them off. What the request speaks of (by the file's name or by a word like "lint") may be altered and added.

    Args:
        changed: paths that differ between the base and the judged tree.
    """
    words = frozenset(_WORD.findall(request.lower()))
    found = []
    for path in changed:
        if PurePosixPath(path).name.lower() in request.lower():
            continue
        asked = [family for family in _FAMILIES if not words & family.names]
        if any(_altered(path, family, before, after) for family in asked):
            found.append(path)
    return tuple(found)


def _altered(path: str, family: _Family, before: Read, after: Read) -> bool:
    old = _part(path, family, before(path))
    if old is not None:
        new = _part(path, family, after(path))
        return new != old and not (isinstance(old, bytes) and isinstance(new, bytes) and _does_as_much(path, old, new))
    if _part(path, family, after(path)) is None or not family.tables:
        return False
    return PurePosixPath(path).name not in _SHARED or _configured(path, family, before)


def _does_as_much(path: str, old: bytes, new: bytes) -> bool:
    """Whether a pipeline of CI runs everything that it ran, under the conditions of then: only its versions and names changed."""
    if not path.endswith((".yml", ".yaml")) or path.startswith((".pre-commit", "codecov", ".codecov", ".golangci")):
        return False
    before, now = _steps(old), _steps(new)
    if not before or now is None or before - now:
        return False
    return not any(step.partition(" ")[0] in _CI_CONDITIONS for step in now - before)


def _steps(data: bytes) -> Counter[str] | None:
    """What a pipeline runs and under which conditions, without versions; None when it cannot be read."""
    import yaml

    try:
        waiting: list[tuple[str, object]] = [("", yaml.safe_load(data))]
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    found: Counter[str] = Counter()
    while waiting:
        key, value = waiting.pop()
        if key in _CI_COMMANDS | _CI_CONDITIONS:
            found[f"{key} {_VERSION.sub('', json.dumps(value, default=str, sort_keys=True))}"] += 1
        elif isinstance(value, dict):
            waiting += [(str(name).lower(), one) for name, one in value.items()]
        elif isinstance(value, list):
            waiting += [("", one) for one in value]
    return found


def _without_versions(table: object) -> object:
    if not isinstance(table, dict):
        return table
    return {key: value for key, value in table.items() if key not in _PYTHON_VERSIONS}


def _configured(path: str, family: _Family, before: Read) -> bool:
    """Whether the base configures this sort of check in the file's folder or above, so that a new file would win over it."""
    names = [name for name in (*family.files, *_SHARED) if not set("*?[/") & set(name)]
    return any(
        _part(place, family, before(place)) is not None
        for folder in PurePosixPath(path).parents
        for place in (str(folder / name) for name in names)
    )


def _part(path: str, family: _Family, data: bytes | None) -> object:
    """What a file says about this sort of check; None when nothing."""
    if data is None:
        return None
    name = PurePosixPath(path).name
    if any(fnmatchcase(path if "/" in pattern else name, pattern) for pattern in family.files):
        return data
    if name not in _SHARED:
        return None
    try:
        return _sections(name, family, data.decode("utf-8", "replace")) or None
    except (tomllib.TOMLDecodeError, configparser.Error, ValueError, AttributeError):
        return data


def _sections(name: str, family: _Family, text: str) -> dict[str, object]:
    if name == "pyproject.toml":
        tool = tomllib.loads(text).get("tool", {})
        return {key: _without_versions(tool[key]) for key in family.tables if key in tool}
    if name == "package.json":
        value = json.loads(text)
        return {key: value[key] for key in family.keys if key in value}
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text)
    return {
        one: _without_versions(dict(parser[one]))
        for one in parser.sections()
        if re.split(r"[:.-]", one)[0] in family.tables
    }
