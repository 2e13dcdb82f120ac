"""Reads the scripts of package.json: which commands `npm test` comes to, and how the packages of a workspace run theirs."""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

WRAPPERS = frozenset({"npx", "cross-env", "c8", "nyc", "exec", "pnpm", "yarn", "bunx"})
_CHECKERS = frozenset(
    {
        "standard", "semistandard", "ts-standard", "eslint", "xo", "prettier", "jshint", "jscs", "tslint", "biome", "tsd",
        "oxlint", "dtslint", "snazzy", "echo",
    }
)  # fmt: skip
_CHECKING = re.compile(r"(?:lint|format|types?|typecheck|check-?types?|prettier)(?::[\w:-]+)?")
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_TOGETHER = frozenset({"run-s", "run-p", "npm-run-all"})
_OVER_ALL = frozenset({"--workspaces", "-ws", "-r", "--recursive", "workspaces", "turbo", "lerna", "nx"})
_DEPTH = 5


def test_commands(script: str, scripts: Mapping[str, Any]) -> list[list[str]]:
    """The words of each command of a script that may run tests, other scripts followed; [] when nobody can tell.

    Linters and type checks before or after it (`standard && mocha`) are no tests; anything else may be a build, and is told.
    """
    found = _followed(script, scripts, _DEPTH)
    return [] if found is None else [words for words in found if not _only_checks(words)]


test_commands.__test__ = False  # type: ignore[attr-defined]  # no test, whatever pytest thinks of the name


def over_workspaces(repo: Path, package: Mapping[str, Any], names: Sequence[str], script: str) -> list[str] | None:
    """One command for the tests of all packages of a workspace; None where they do not run theirs in one and the same way."""
    folders = list(_workspaces(package, names))
    if not folders or not (_OVER_ALL & set(script.split())):
        return None
    commands: set[tuple[str, ...]] = set()
    for folder in folders:
        own = read_package(repo / folder / "package.json")
        scripts = own.get("scripts") or {}
        test = scripts.get("test", "") if isinstance(scripts, dict) else ""
        if test and "no test specified" not in test:
            plain = [[word for word in words if word not in ("run", "--run")] for words in test_commands(test, scripts)]
            commands |= {tuple(words) for words in plain} or {()}
    if len(commands) != 1:
        return None
    words = list(next(iter(commands)))
    configured = any(
        name.rpartition("/")[2].startswith(("vitest.config", "vite.config")) for name in names if "/" in name
    )
    if words == ["node", "--test"] or (words == ["vitest"] and not configured):
        return words
    if words == ["jest"]:
        return ["jest", *(f"--projects={folder}" for folder in folders)]
    return ["mocha", *(f"{folder}/test/**/*.{{js,cjs,mjs}}" for folder in folders)] if words == ["mocha"] else None


def _followed(script: str, scripts: Mapping[str, Any], depth: int) -> list[list[str]] | None:
    """The commands of a script with `npm run other` replaced by what that stands for; None when nobody can tell."""
    commands = [part.strip() for part in re.split(r"&&|;", script)]
    if depth == 0 or any(sign in part for part in commands for sign in "&|<>$`"):
        return None
    found: list[list[str]] = []
    for part in commands:
        try:
            words = shlex.split(part)
        except ValueError:
            return None
        called = _called(words, scripts) if words and not _only_checks(words) else None
        if called is None:
            found += [words] if words else []
            continue
        for name, more in called:
            inner = _followed(str(scripts[name]), scripts, depth - 1)
            if inner is None:
                return None
            found += [*inner[:-1], [*inner[-1], *more]] if inner else []
    return found


def _called(words: Sequence[str], scripts: Mapping[str, Any]) -> list[tuple[str, list[str]]] | None:
    """The scripts that a command starts, each with what is added to it; None when it starts none of these."""
    if words[0] in _TOGETHER:
        names = [word for word in words[1:] if not word.startswith("-")]
        return [(name, []) for word in names for name in _matching(word, scripts)] or None
    if words[0] not in _MANAGERS or _OVER_ALL & set(words):
        return None
    rest = [word for word in words[1:] if word not in ("run", "run-script", "-s", "--silent")]
    if not rest or rest[0] not in scripts:
        return None
    more = rest[1:]
    return [(rest[0], more[1:] if more[:1] == ["--"] else more)]


def _matching(word: str, scripts: Mapping[str, Any]) -> Iterator[str]:
    """`test:*` is every script of that form."""
    yield from (name for name in scripts if fnmatch.fnmatchcase(name, word.replace("**", "*")))


def _only_checks(words: Sequence[str]) -> bool:
    """Whether a command looks at the code and builds nothing."""
    plain = [word for word in words if word not in WRAPPERS and not re.fullmatch(r"[A-Z_]+=\S*", word)]
    name = plain[0].rpartition("/")[2] if plain else ""
    if name in ("npm", *_TOGETHER) or words[:1] in (["pnpm"], ["yarn"]):
        scripts = [word for word in plain if word not in ("run", "-s", "--silent", "run-script", "npm", *_TOGETHER)]
        return bool(scripts) and all(_CHECKING.fullmatch(one) for one in scripts)
    return name in _CHECKERS or (name in ("tsc", "vue-tsc") and "--noEmit" in plain)


def _workspaces(package: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """The folders of the packages of a workspace."""
    told = package.get("workspaces") or ["packages/*"]
    patterns = told.get("packages", []) if isinstance(told, dict) else told
    folders = [name.removesuffix("/package.json") for name in names if name.endswith("/package.json")]
    for folder in sorted(folders):
        if any(fnmatch.fnmatchcase(folder, str(pattern).removeprefix("./").rstrip("/")) for pattern in patterns):
            yield folder


def read_package(path: Path) -> dict[str, Any]:
    """The object of a package.json; {} when there is none, or it is none."""
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
