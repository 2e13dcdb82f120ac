"""Finds out how the tests of a JavaScript or TypeScript repository run: node's own runner, vitest, jest, mocha."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentforge.runners.javascript_scripts import WRAPPERS, over_workspaces, read_package, test_commands
from agentforge.runners.plan import Runner, TestPlan

_TOOLS: dict[str, Runner] = {"vitest": "vitest", "jest": "jest", "mocha": "mocha"}
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
    commands = test_commands(script, _package(repo).get("scripts") or {})
    found = [
        plan
        for words in commands
        if (plan := plan_of_words(repo, words, environ=environ, base=base, by="the test script of package.json"))
    ]
    if len(found) == len(commands) == 1:
        return found[0]
    spread = over_workspaces(repo, _package(repo), names, script) if not found else None
    if spread is not None:
        return plan_of_words(repo, spread, environ=environ, base=base, by="the test scripts of its workspaces")
    tests = [name for name in names if is_test(name)]
    if not script:
        installed = next((tool for tool in _TOOLS if _depends(repo, tool)), "")
        if installed:
            return plan_of_words(repo, [installed], environ=environ, base=base, by="the dependencies of package.json")
        return _node(environ, base, (), f"the tests ({tests[0]})" if tests else "package.json; there are no tests yet")
    if tests or found:
        problem = _not_understood(script, [plan.shown_command for plan in found])
        source = "detected: a test script that is not understood"
        return TestPlan(runner="none", language="javascript", source=source, problems=(problem,), **base)
    return None


def _not_understood(script: str, commands: Sequence[str]) -> str:
    if len(commands) > 1:
        told = "; ".join(commands)
        return f"package.json runs its tests by several commands ({told}); set [test] command to the one that counts"
    return f"package.json runs its tests by {script!r}; set [test] command, like `vitest run`, or [test] junit"


def plan_of_words(
    repo: Path, words: Sequence[str], *, environ: Mapping[str, str], base: Mapping[str, Any], by: str
) -> TestPlan | None:
    """The plan of a command that starts node's runner, vitest, jest or mocha; None for any other."""
    words = list(words)
    env: dict[str, str] = {}
    while words and (words[0] in WRAPPERS or (words[0].partition("=")[0].isidentifier() and "=" in words[0])):
        name, mark, value = words.pop(0).partition("=")
        if mark:
            env[name] = value
    base = {**base, "env": {**env, **base["env"]}}
    if words[:1] == ["tsx"] and "--test" in words:
        words = ["node", "--import", "tsx", *words[1:]]
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
    run = ("run", *_config_loader(repo, words)) if tool == "vitest" else ()
    return TestPlan(
        runner=_TOOLS[tool] if there else "none",
        command=(f"node_modules/.bin/{tool}", *run, *_kept(words)),
        language="javascript",
        source=f"detected: {tool} via {by}",
        problems=() if there else (f"{tool} is not installed; run: {_install(repo, tool)}",),
        **base,
    )


def _config_loader(repo: Path, words: Sequence[str]) -> tuple[str, ...]:
    """How vitest from 3.1 on reads its configuration without writing into node_modules, which is lent read-only."""
    version = read_package(repo / "node_modules" / "vitest" / "package.json").get("version")
    parts = [int(part) for part in str(version).split(".")[:2] if part.isdecimal()]
    return ("--configLoader=runner",) if parts >= [3, 1] and not any("configLoader" in one for one in words) else ()


def _install(repo: Path, tool: str) -> str:
    """The command that brings a runner: from the lock file of a project that declares it, else as a new dependency."""
    locks = {
        "package-lock.json": "npm ci", "npm-shrinkwrap.json": "npm ci", "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
        "yarn.lock": "yarn install --frozen-lockfile", "bun.lock": "bun install --frozen-lockfile",
    }  # fmt: skip
    known = next((command for name, command in locks.items() if (repo / name).is_file()), "npm install")
    return known if _depends(repo, tool) else f"npm install --save-dev {tool}"


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
    return read_package(repo / "package.json")
