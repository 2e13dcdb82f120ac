"""How the tests of Go and Rust are found, and commands that only show results in a way of their own: gotestsum, cargo nextest."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from agentforge.languages.language import ProjectFiles
from agentforge.testing.plan import TestPlan

Find = Callable[[ProjectFiles], TestPlan | None]

_KEPT = frozenset(
    {
        "--workspace", "--all", "--all-features", "--no-default-features", "--release", "-r", "--lib", "--bins", "--tests",
        "--locked", "--frozen", "--offline",
    }
)  # fmt: skip
_KEPT_WITH_VALUE = frozenset(
    {"-p", "--package", "--features", "-F", "--target", "--exclude", "--bin", "--test", "--manifest-path"}
)
_SHOWS = frozenset(
    {"--no-fail-fast", "--fail-fast", "--ff", "--nff", "--no-capture", "--nocapture", "-v", "-q", "--hide-progress-bar"}
)
_SHOWS_WITH_VALUE = frozenset(
    {
        "-P", "--profile", "--cargo-profile", "--retries", "-j", "--test-threads", "--build-jobs", "--max-fail", "--no-tests",
        "--failure-output", "--success-output", "--status-level", "--final-status-level", "--color", "--message-format",
        "--config-file", "--show-progress",
    }
)  # fmt: skip


def unwrapped(command: Sequence[str]) -> tuple[str, ...]:
    """The command of the runner whose results we read ourselves; any other command as it is."""
    words = list(command)
    program = PurePosixPath(words[0]).name if words else ""
    if program == "gotestsum":
        return ("go", "test", *(words[words.index("--") + 1 :] if "--" in words else ("./...",)))
    nextest = words[1:] if program == "cargo" else words
    if [PurePosixPath(one).name.removeprefix("cargo-") for one in nextest[:1]] == ["nextest"]:
        after = nextest[2:] if nextest[1:2] == ["run"] else nextest[3:] if nextest[1:3] == ["nextest", "run"] else None
        kept = _cargo_options(after) if after is not None else None
        return ("cargo", "test", *kept) if kept is not None else tuple(command)
    return tuple(command)


def _cargo_options(words: Sequence[str]) -> list[str] | None:
    """What of nextest's options says what is built; None when one chooses among the tests, or is not known here."""
    kept: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, _ = word.partition("=")
        value = [rest.pop(0)] if not equals and rest and name in _KEPT_WITH_VALUE | _SHOWS_WITH_VALUE else []
        if name in _KEPT | _KEPT_WITH_VALUE:
            kept += [word, *value]
        elif name not in _SHOWS | _SHOWS_WITH_VALUE:
            return None
    return kept


def plan_with(project: ProjectFiles, command: Sequence[str], *, find: Find, begins: tuple[str, ...]) -> TestPlan | None:
    """Plan a project with the command that a person named; None where the command is no such one.

    Args:
        find: the plan of the project by what it says of itself.
        begins: the words with which the runner of the language is called.
    """
    words, plan = unwrapped(command), find(project)
    return replace(plan, command=words) if plan is not None and words[: len(begins)] == begins else None


def plan_by_manifest(
    project: ProjectFiles, *, manifest: str, runner: str, language: str, command: tuple[str, ...], noted: str = ""
) -> TestPlan | None:
    """Plan a project that a manifest says to be of a language; None for a project without it.

    Args:
        noted: what people are told of the plan beside where it comes from.
    """
    if not project.holds(manifest):
        return None
    program = command[0]
    there = shutil.which(program, path=project.environ.get("PATH")) is not None
    return TestPlan(
        runner=runner if there else "none",
        command=command,
        language=language,
        source=f"detected: {program} via {manifest}{noted}",
        problems=() if there else (f"{program} is not on PATH; install {language.capitalize()}",),
        **project.base,
    )
