"""Files that steer the test runner: which of them a change made steer in another way."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from agentforge.languages.catalogue import languages
from agentforge.languages.java.project import pom_part
from agentforge.workspace.git.repository import Read

_WHOLE = frozenset(
    {
        "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "sitecustomize.py", "usercustomize.py",
        ".coveragerc", "noxfile.py", ".mocharc.json", ".mocharc.js", ".mocharc.cjs", ".mocharc.yml",
        "jest.config.js", "jest.config.ts", "jest.config.mjs", "jest.config.cjs", "vitest.config.ts", "vitest.config.js",
        "vitest.config.mts", "vitest.config.mjs", "vitest.config.cjs", "vitest.workspace.ts", "vitest.workspace.js",
        "vite.config.ts", "vite.config.js", "vite.config.mts", "vite.config.mjs", "jest.config.json", "jest.preset.js",
        ".mocharc.yaml", ".mocharc.jsonc", ".mocharc.mjs", "babel.config.js", "babel.config.json", ".babelrc",
        "go.work", "build.rs", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties",
        "junit-platform.properties", "testng.xml", "maven.config", "jvm.config", "extensions.xml",
        "rust-toolchain", "rust-toolchain.toml",
    }
)  # fmt: skip
_CARGO_CONFIG = (".cargo/config.toml", ".cargo/config")
_CARGO_TABLES = ("test", "lib", "bin", "profile", "workspace", "lints")
_CARGO_PACKAGE = ("build", "autotests", "autobins", "autolib", "edition", "default-run")
_GO_WORDS = ("go", "toolchain", "replace", "exclude", "tool", "ignore")
_INI = {"tox.ini": ("pytest",), "setup.cfg": ("tool:pytest", "coverage:run", "options.entry_points")}
_PACKAGE_KEYS = ("jest", "mocha", "vitest", "type")
_PATH_WORD = re.compile(r"[\w.@+/-]+")
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
        old, new = before(path), after(path)
        if _steering_part(path, old) != _steering_part(path, new, base=old):
            found.append(path)
    return tuple(found)


def steering_by(
    told: str, changed: Iterable[str], *, before: Read, after: Read, allowed: Collection[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Part the changed files that steer the runner in another way: those that nobody asked for, and those that people named.

    Args:
        told: people's own words; a file is named by its path, or by the last parts of it.
    """
    words = {word.rstrip(".") for word in _PATH_WORD.findall(told)}
    found = steering_changes(changed, before=before, after=after, allowed=allowed)
    asked = tuple(path for path in found if not words.isdisjoint(_endings(path)))
    return tuple(path for path in found if path not in asked), asked


def _endings(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[at:]) for at in range(len(parts)))


def _steers(path: str) -> bool:
    name = PurePosixPath(path).name
    known = (
        name in _WHOLE or name in _INI or name in ("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "pom.xml")
    )
    known = known or path.endswith(_CARGO_CONFIG) or any(name in one.steering for one in languages())
    return known or (name in _SHADOWS and "/" not in path.removeprefix("src/")) or name.endswith(".pth")


def _steering_part(path: str, data: bytes | None, *, base: bytes | None = None) -> object:
    """What of a file steers the runner; the whole file when it cannot be read.

    Args:
        base: the file before the change, where this is the one behind it.
    """
    name = PurePosixPath(path).name
    if data is None:
        return None if name in _WHOLE or name in _SHADOWS or path.endswith(_CARGO_CONFIG) else _nothing(name)
    text = data.decode("utf-8", "replace")
    try:
        if name == "pyproject.toml":
            tool = tomllib.loads(text).get("tool", {})
            return [tool.get("pytest"), tool.get("coverage"), _plugins(tomllib.loads(text))]
        if name == "Cargo.toml":
            known = tomllib.loads((base or b"").decode("utf-8", "replace")).get("features", {}) if base else None
            return _cargo_part(tomllib.loads(text), known)
        if name == "go.mod":
            return _go_part(text)
        if name == "pom.xml":
            return pom_part(data)
        if name == "package.json":
            value = json.loads(text)
            return [value.get("scripts", {}).get("test"), *(value.get(key) for key in _PACKAGE_KEYS)]
        if name in _INI:
            parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
            parser.read_string(text)
            return [_section(parser, section) for section in _INI[name]]
    except (tomllib.TOMLDecodeError, ValueError, AttributeError, configparser.Error):
        return data
    return data


def _section(parser: configparser.RawConfigParser, name: str) -> object:
    """What a section says; of the entry points only the runner's plugins."""
    if not parser.has_section(name):
        return None
    return parser.get(name, "pytest11", fallback=None) if name == "options.entry_points" else dict(parser[name])


def _plugins(value: dict[str, Any]) -> object:
    """Plugins of the runner that a package brings: pytest loads them once it is installed."""
    told = [
        value.get("project", {}).get("entry-points", {}).get("pytest11"),
        value.get("tool", {}).get("poetry", {}).get("plugins", {}).get("pytest11"),
    ]
    return told if any(told) else None


def _cargo_part(value: dict[str, Any], known: Collection[str] | None = None) -> list[object]:
    """What of a manifest chooses targets, their harness and how they are compiled; dependencies and idle features do not.

    Args:
        known: the features before the change. Nothing that was there then asks for a feature that is new; a test that asks
            for it to be off is missing afterwards, and that is measured.
    """
    package, features = value.get("package", {}), value.get("features", {})
    fresh = set(features) - set(features if known is None else known)
    enabled = _enabled(features)
    return [
        {name: [one for one in enabled[name] if one not in fresh] for name in enabled if name not in fresh},
        *(value.get(name) for name in _CARGO_TABLES),
        *(package.get(name) for name in _CARGO_PACKAGE),
    ]


def _enabled(features: Mapping[str, Any]) -> dict[str, Any]:
    """The features that a build without options switches on, with what each of them switches on."""
    found: dict[str, Any] = {}
    left = ["default"]
    while left:
        name = left.pop()
        if name in features and name not in found:
            found[name] = features[name]
            left += features[name]
    return found


def _go_part(text: str) -> list[str]:
    """The directives of a go.mod that change what is compiled; a new requirement does not. Blocks are told line by line."""
    found, block = [], ""
    for line in text.splitlines():
        words = line.split("//")[0].split()
        if words[1:] == ["("]:
            block = words[0]
        elif words == [")"]:
            block = ""
        elif words and (block or words[0]) in _GO_WORDS:
            found.append(" ".join([block, *words] if block else words))
    return found


def _nothing(name: str) -> object:
    """What a missing file of several purposes says about the runner."""
    if name == "pyproject.toml":
        return [None, None, None]
    if name == "Cargo.toml":
        return _cargo_part({})
    if name in ("go.mod", "pom.xml"):
        return []
    if name == "package.json":
        return [None] * (1 + len(_PACKAGE_KEYS))
    return [None] * len(_INI.get(name, ()))
