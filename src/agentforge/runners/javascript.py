"""Finds how a JavaScript project runs its tests: node's own runner, vitest, mocha or jest."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentforge.runners.plan import TestPlan

_NODE_REPORT = ("--test-reporter=junit", "--test-reporter-destination={junit}")
_REPORTS = {
    "vitest": ("run", "--reporter=junit", "--outputFile={junit}"),
    "mocha": ("--reporter", "xunit", "--reporter-option", "output={junit}"),
    "jest": ("--ci", "--reporters=jest-junit"),
}


def find_javascript(
    repo: Path, names: Sequence[str], *, environ: Mapping[str, str], base: Mapping[str, Any]
) -> TestPlan | None:
    """Find the plan of a repository with a package.json; None when there is none or it has no tests."""
    if "package.json" not in names:
        return None
    script = _test_script(repo)
    words = shlex.split(script) if script and not any(sign in script for sign in "&|;<>$`") else []
    for tool, report in _REPORTS.items():
        if tool in words:
            return _installed(repo, tool, words, report, base)
    tests = [name for name in names if _is_test(name)]
    if words[:1] == ["node"] and "--test" in words:
        rest = tuple(word for word in words[1:] if word != "--test" and not word.startswith("--test-reporter"))
        return _node(environ, base, rest, "the test script of package.json")
    if tests and not script:
        return _node(environ, base, (), f"the tests ({tests[0]})")
    if script and tests:
        problem = f"package.json runs its tests by {script!r}; set [test] command and [test] junit"
        source = "detected: a test script that is not understood"
        return TestPlan(runner="none", language="javascript", source=source, problems=(problem,), **base)
    return None


def _node(environ: Mapping[str, str], base: Mapping[str, Any], rest: tuple[str, ...], by: str) -> TestPlan:
    found = shutil.which("node", path=environ.get("PATH"))
    return TestPlan(
        runner="junit" if found else "none",
        command=("node", "--test", *_NODE_REPORT, *rest),
        language="javascript",
        source=f"detected: node --test via {by}",
        problems=() if found else ("node is not on PATH",),
        **base,
    )


def _installed(
    repo: Path, tool: str, words: Sequence[str], report: tuple[str, ...], base: Mapping[str, Any]
) -> TestPlan:
    """A runner from node_modules."""
    needed = [tool, "jest-junit"] if tool == "jest" else [tool]
    missing = [name for name in needed if not (repo / "node_modules" / name).is_dir()]
    rest = tuple(word for word in words[list(words).index(tool) + 1 :] if word not in ("run", "watch", "--watch"))
    env = {**base["env"], **({"JEST_JUNIT_OUTPUT_FILE": "{junit}"} if tool == "jest" else {})}
    return TestPlan(
        runner="none" if missing else "junit",
        command=(f"node_modules/.bin/{tool}", *report, *rest),
        language="javascript",
        source=f"detected: {tool} via the test script of package.json",
        problems=tuple(f"{name} is not installed; run: npm install --save-dev {name}" for name in missing),
        **{**base, "env": env},
    )


def _test_script(repo: Path) -> str:
    try:
        value = json.loads((repo / "package.json").read_text("utf-8"))
    except (OSError, ValueError):
        return ""
    script = value.get("scripts", {}).get("test", "") if isinstance(value, dict) else ""
    return script if isinstance(script, str) and "no test specified" not in script else ""


def _is_test(name: str) -> bool:
    """Whether node's own runner would take a file for a test."""
    folder, _, file = f"/{name}".rpartition("/")
    if file.rpartition(".")[2] not in ("js", "mjs", "cjs", "ts", "mts", "cts"):
        return False
    marked = any(mark in file for mark in (".test.", "-test.", "_test.")) or file.startswith("test")
    return marked or f"{folder}/".endswith("/test/") or "/tests/" in f"{folder}/"
