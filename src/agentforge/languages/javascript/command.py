"""The commands of node:test, vitest, jest and mocha with our reporter in the place of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from agentforge.languages.javascript.scripts import read_package
from agentforge.testing.launch import EVIDENCE, TestSandbox
from agentforge.testing.plan import TestPlan

REPORTERS = EVIDENCE / "javascript"
_TAKES_VALUE = frozenset(
    {
        "--import", "--require", "-r", "--loader", "--experimental-loader", "--conditions", "-C", "--env-file",
        "--test-name-pattern", "--test-skip-pattern", "--test-concurrency", "--test-timeout", "--test-shard",
        "--config", "-c", "--dir", "--root", "--project", "--projects", "--environment", "--env", "--testTimeout", "--pool",
        "--workspace", "--mode", "--exclude", "--testNamePattern", "-t", "--maxWorkers", "-w", "--selectProjects",
        "--setupFiles", "--rootDir", "--roots", "--testMatch", "--configLoader", "--hookTimeout", "--retry", "--bail",
        "--preset", "--transform", "--testEnvironment",
    }
)  # fmt: skip
_TAKES_SEVERAL = (
    r"--(?:roots|testMatch|testRegex|setupFiles\w*|collectCoverageFrom"
    r"|\w*(?:[pP]rojects|Patterns|Reporters|Directories|Extensions|Paths|Serializers))"
)
"""Options of jest that take every word up to the next option."""
_TAKES_VALUE_IN_MOCHA = frozenset(
    {
        "--timeout", "--ui", "-u", "--grep", "-g", "--fgrep", "-f", "--extension", "--file", "--ignore", "--retries", "--slow",
        "-s", "--package", "--reporter", "-R", "--reporter-option", "--reporter-options", "-O", "--jobs", "-j", "--watch-files",
        "--node-option", "-n", "--global",
    }
)  # fmt: skip
_JEST_SHUFFLES = (29, 5)


def shuffles(plan: TestPlan, ground: TestSandbox) -> bool:
    """Whether the installed runner takes an order; jest before 29.5 ends with an error when it is given one."""
    if plan.runner != "jest":
        return True
    version = str(read_package(ground.mount_at / "node_modules" / "jest" / "package.json").get("version", ""))
    return tuple(int(part) for part in version.split(".")[:2] if part.isdecimal()) >= _JEST_SHUFFLES


def command_of(
    plan: TestPlan, *, files: Sequence[str], canary: str, seed: int | None, checkout: Path | None = None
) -> list[str]:
    """The project's own command with our reporter instead of its own."""
    head, rest = list(plan.command[:2]), list(plan.command[2:])
    options, paths = _told_apart(rest if plan.runner in ("node", "vitest") else plan.command[1:], runner=plan.runner)
    named = bool(paths)
    if plan.runner == "node":
        report = [f"--test-reporter={REPORTERS / 'node_reporter.mjs'}", "--test-reporter-destination=stdout"]
        chosen = list(files) or [*_expanded(paths, checkout), *([canary] if named else [])]
        return [*head, *report, *options, *chosen]
    if plan.runner == "vitest":
        shuffle = [] if seed is None else ["--sequence.shuffle", f"--sequence.seed={seed}"]
        extra = [canary] if named and not files else []
        return [*head, *rest, f"--reporter={REPORTERS / 'vitest_reporter.mjs'}", "--bail=0", *shuffle, *files, *extra]
    if plan.runner == "jest":
        shuffle = [] if seed is None else ["--randomize", f"--seed={seed}"]
        ours = f"--reporters={REPORTERS / 'jest_reporter.cjs'}"
        report = ["--ci", "--watchman=false", "--coverage=false", "--bail=0", ours]
        if files:
            return [head[0], *options, *report, *shuffle, "--runTestsByPath", *files]
        # a word behind an option that takes several would be one more value of it
        return [head[0], *([canary] if named else []), *plan.command[1:], *report, *shuffle]
    report = ["--reporter", str(REPORTERS / "mocha_reporter.cjs"), "--no-parallel", "--no-bail"]
    chosen = [one for one in files if one != canary] or list(files)
    if chosen:  # the patterns of the script would load every other file, too
        return [head[0], *(one for one in options if one != "--"), *report, "--file", canary, *chosen]
    return [*plan.command, *report, "--file", canary]


def _expanded(paths: Sequence[str], checkout: Path | None) -> list[str]:
    """The patterns of a script as the shell would have expanded them: node 20 does not do so itself."""
    found: list[str] = []
    for path in paths:
        fitting = []
        if checkout is not None and any(sign in path for sign in "*?["):
            below = (one.relative_to(checkout) for one in checkout.glob(path.removeprefix("./")))
            fitting = sorted(str(one) for one in below if "node_modules" not in one.parts)
        found += fitting or [path]
    return found


def _told_apart(words: Sequence[str], *, runner: str) -> tuple[list[str], list[str]]:
    """The options of a command with their values, and the paths or patterns that choose its tests."""
    options: list[str] = []
    paths: list[str] = []
    values_follow = 0
    for word in words:
        is_option = word.startswith("-") and values_follow != 1
        (options if values_follow or is_option else paths).append(word)
        if is_option:
            several = runner == "jest" and re.fullmatch(_TAKES_SEVERAL, word.partition("=")[0]) is not None
            takes = _TAKES_VALUE | _TAKES_VALUE_IN_MOCHA if runner == "mocha" else _TAKES_VALUE
            values_follow = len(words) if several else int(word in takes)
        elif values_follow:
            values_follow -= 1
    return options, paths
