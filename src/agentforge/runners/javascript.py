"""Finds out how the tests of a JavaScript or TypeScript repository run: node's own runner, vitest, jest, mocha."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentforge.runners.plan import Runner, TestPlan

_TOOLS: dict[str, Runner] = {"vitest": "vitest", "jest": "jest", "mocha": "mocha"}
_WRAPPERS = frozenset({"npx", "cross-env", "c8", "nyc", "exec", "pnpm", "yarn", "bunx"})
_CHECKERS = frozenset(
    {
        "standard", "semistandard", "ts-standard", "eslint", "xo", "prettier", "jshint", "jscs", "tslint", "biome", "tsd",
        "oxlint", "dtslint", "snazzy", "echo",
    }
)  # fmt: skip
_OURS = ("--reporter", "--reporters", "--outputFile", "--coverage", "--watch", "--watchAll", "--ui", "--silent", "-R")
_TAKES_VALUE = frozenset({"--reporter", "-R", "--outputFile"})
_SUFFIXES = ("js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx")


def find_javascript(
    repo: Path, names: Sequence[str], *, environ: Mapping[str, str], base: Mapping[str, Any]
) -> TestPlan | None:
    """Find the plan of a repository with a package.json; None when there is none, or a test script without tests.

    A project without tests gets node's own runner, which needs nothing.
    """
    if "package.json" not in names:
        return None
    script = _test_script(repo)
    words = _words_of(script)
    plan = plan_of_words(repo, words, environ=environ, base=base, by="the test script of package.json")
    if plan is not None:
        return plan
    tests = [name for name in names if is_test(name)]
    if not script:
        installed = next((tool for tool in _TOOLS if _depends(repo, tool)), "")
        if installed:
            return plan_of_words(repo, [installed], environ=environ, base=base, by="the dependencies of package.json")
        return _node(environ, base, (), f"the tests ({tests[0]})" if tests else "package.json; there are no tests yet")
    if tests:
        problem = f"package.json runs its tests by {script!r}; set [test] command, like `vitest run`, or [test] junit"
        source = "detected: a test script that is not understood"
        return TestPlan(runner="none", language="javascript", source=source, problems=(problem,), **base)
    return None


def plan_of_words(
    repo: Path, words: Sequence[str], *, environ: Mapping[str, str], base: Mapping[str, Any], by: str
) -> TestPlan | None:
    """The plan of a command that starts node's runner, vitest, jest or mocha; None for any other."""
    words = list(words)
    env: dict[str, str] = {}
    while words and (words[0] in _WRAPPERS or (words[0].partition("=")[0].isidentifier() and "=" in words[0])):
        name, mark, value = words.pop(0).partition("=")
        if mark:
            env[name] = value
    base = {**base, "env": {**env, **base["env"]}}
    if words[:1] == ["node"] and "--test" in words:
        rest = tuple(word for word in words[1:] if word != "--test" and not word.startswith("--test-reporter"))
        return _node(environ, base, rest, by)
    at = next((place for place, word in enumerate(words) if _tool(word)), -1)
    if at < 0 or (at > 0 and words[0] != "node"):
        return None
    if at > 0:  # node's own options: `node --experimental-vm-modules node_modules/jest/bin/jest.js`
        options = " ".join([*words[1:at], env.get("NODE_OPTIONS", "")]).strip()
        base = {**base, "env": {**base["env"], "NODE_OPTIONS": options}}
    return _installed(repo, _tool(words[at]), words[at + 1 :], base, by)


def _words_of(script: str) -> list[str]:
    """The words of the one command of a script that runs tests; [] when there is none, or nobody can tell.

    Linters and type checks before or after it (`standard && mocha`) are no tests; anything else may be a build.
    """
    commands = [part.strip() for part in re.split(r"&&|;", script)]
    if any(sign in part for part in commands for sign in "&|<>$`"):
        return []
    try:
        split = [shlex.split(part) for part in commands if part]
    except ValueError:
        return []
    left = [words for words in split if not _only_checks(words)]
    return left[0] if len(left) == 1 else []


def _only_checks(words: Sequence[str]) -> bool:
    """Whether a command looks at the code and builds nothing."""
    plain = [word for word in words if word not in _WRAPPERS and not re.fullmatch(r"[A-Z_]+=\S*", word)]
    name = plain[0].rpartition("/")[2] if plain else ""
    if name in ("npm", "run-s", "run-p"):
        scripts = [word for word in plain[1:] if word not in ("run", "-s", "--silent", "run-script")]
        return bool(scripts) and all(
            re.fullmatch(r"(?:lint|format|types?|check-?types?|prettier)(?::[\w:-]+)?", one) for one in scripts
        )
    return name in _CHECKERS or (name == "tsc" and "--noEmit" in plain)


def is_test(name: str) -> bool:
    """Whether the runners would take a file for a test by its name or folder."""
    folder, _, file = f"/{name}".rpartition("/")
    if file.rpartition(".")[2] not in _SUFFIXES or file.endswith(".d.ts"):
        return False
    marked = any(mark in file for mark in (".test.", ".spec.", "-test.", "_test.")) or file.startswith(
        ("test-", "test.")
    )
    return marked or any(f"/{part}/" in f"{folder}/" for part in ("test", "tests", "__tests__", "spec"))


def _tool(word: str) -> str:
    """The runner that a word of a command starts: `jest`, `node_modules/.bin/jest`, `node_modules/jest/bin/jest.js`."""
    last = word.rpartition("/")[2]
    return next((tool for tool in _TOOLS if last in (tool, f"{tool}.js", f"{tool}.mjs", f"_{tool}")), "")


def _node(environ: Mapping[str, str], base: Mapping[str, Any], rest: tuple[str, ...], by: str) -> TestPlan:
    found = shutil.which("node", path=environ.get("PATH"))
    return TestPlan(
        runner="node" if found else "none",
        command=("node", "--test", *rest),
        language="javascript",
        source=f"detected: node --test via {by}",
        problems=() if found else ("node is not on PATH",),
        **base,
    )


def _installed(repo: Path, tool: str, words: Sequence[str], base: Mapping[str, Any], by: str) -> TestPlan:
    """A runner from node_modules."""
    there = (repo / "node_modules" / tool).is_dir()
    run = ("run",) if tool == "vitest" else ()
    return TestPlan(
        runner=_TOOLS[tool] if there else "none",
        command=(f"node_modules/.bin/{tool}", *run, *_kept(words)),
        language="javascript",
        source=f"detected: {tool} via {by}",
        problems=() if there else (f"{tool} is not installed; run: npm install --save-dev {tool}",),
        **base,
    )


def _kept(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a script without those that choose how results are shown."""
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.partition("=")[0] in _OURS:
            skip = word in _TAKES_VALUE
        elif word not in ("run", "watch"):
            kept.append(word)
    return tuple(kept)


def _depends(repo: Path, tool: str) -> bool:
    package = _package(repo)
    return any(tool in (package.get(kind) or {}) for kind in ("devDependencies", "dependencies"))


def _test_script(repo: Path) -> str:
    scripts = _package(repo).get("scripts")
    script = scripts.get("test", "") if isinstance(scripts, dict) else ""
    return script if isinstance(script, str) and "no test specified" not in script else ""


def _package(repo: Path) -> dict[str, Any]:
    try:
        value = json.loads((repo / "package.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
