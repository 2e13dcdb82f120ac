"""Files that steer the test runner: which of them a change made steer in another way."""

from __future__ import annotations

import configparser
import json
import tomllib
from collections.abc import Callable, Collection, Iterable
from pathlib import PurePosixPath

Read = Callable[[str], bytes | None]

_WHOLE = frozenset(
    {
        "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "sitecustomize.py", "usercustomize.py",
        ".coveragerc", "noxfile.py", ".mocharc.json", ".mocharc.js", ".mocharc.cjs", ".mocharc.yml",
        "jest.config.js", "jest.config.ts", "jest.config.mjs", "jest.config.cjs", "vitest.config.ts", "vitest.config.js",
        "vitest.config.mts", "vitest.config.mjs",
    }
)  # fmt: skip
_INI = {"tox.ini": ("pytest",), "setup.cfg": ("tool:pytest", "coverage:run")}
_PACKAGE_KEYS = ("jest", "mocha", "vitest", "type")
_SHADOWS = frozenset({"pytest.py", "_pytest.py", "pluggy.py", "unittest.py", "conftest.pyc"})


def steering_changes(
    changed: Iterable[str], *, before: Read, after: Read, allowed: Collection[str] = ()
) -> tuple[str, ...]:
    """List the changed paths that steer the runner in another way than before.

    A change of `pyproject.toml` counts only when its pytest or coverage tables changed.

    Args:
        before, after: content of a path in the base and in the judged tree.
        allowed: paths that RED declared.
    """
    found = []
    for path in changed:
        if path in allowed or not _steers(path):
            continue
        if _steering_part(path, before(path)) != _steering_part(path, after(path)):
            found.append(path)
    return tuple(found)


def _steers(path: str) -> bool:
    name = PurePosixPath(path).name
    known = name in _WHOLE or name in _INI or name in ("pyproject.toml", "package.json")
    return known or (name in _SHADOWS and "/" not in path.removeprefix("src/")) or name.endswith(".pth")


def _steering_part(path: str, data: bytes | None) -> object:
    """What of a file steers the runner; the whole file when it cannot be read."""
    name = PurePosixPath(path).name
    if data is None:
        return None if name in _WHOLE or name in _SHADOWS else _nothing(name)
    text = data.decode("utf-8", "replace")
    try:
        if name == "pyproject.toml":
            tool = tomllib.loads(text).get("tool", {})
            return [tool.get("pytest"), tool.get("coverage")]
        if name == "package.json":
            value = json.loads(text)
            return [value.get("scripts", {}).get("test"), *(value.get(key) for key in _PACKAGE_KEYS)]
        if name in _INI:
            parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
            parser.read_string(text)
            return [dict(parser[section]) if parser.has_section(section) else None for section in _INI[name]]
    except (tomllib.TOMLDecodeError, ValueError, AttributeError, configparser.Error):
        return data
    return data


def _nothing(name: str) -> object:
    """What a missing file of several purposes says about the runner."""
    if name == "pyproject.toml":
        return [None, None]
    if name == "package.json":
        return [None] * (1 + len(_PACKAGE_KEYS))
    return [None] * len(_INI.get(name, ()))
