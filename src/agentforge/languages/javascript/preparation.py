"""Runs what a project does before its tests and what they need: a compiler, a bundler, a generator."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from agentforge.languages.javascript.failures import compiler_failures
from agentforge.testing.launch import TestSandbox, box
from agentforge.testing.outcome import MESSAGE_LIMIT, CollectionError, Failure, SuiteRun
from agentforge.testing.plan import TestPlan

_LONGEST_S = 600.0
_SOURCES = ("ts", "mts", "cts", "tsx", "jsx", "js", "mjs", "cjs")
_SKIPPED = frozenset({"node_modules", ".git"})
_TOLD = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedProject:
    """What came of the commands before the tests.

    Attributes:
        failed: commands that did not end with 0, each with the end of what it printed.
        built: repository path of a source -> of the file that was made of it.
    """

    failed: Mapping[str, str]
    built: Mapping[str, str]


NOTHING = PreparedProject(failed={}, built={})


def prepare(plan: TestPlan, ground: TestSandbox, *, timeout_s: float) -> PreparedProject:
    """Run the commands that a plan has before its tests, in the sandbox, in the checkout whose tests run.

    A command that fails is no verdict: a compiler that finds a wrong type may still have written everything.

    Args:
        timeout_s: limit of each of them; at most ten minutes.
    Side effects: whatever the commands write into the checkout.
    """
    if not plan.prepare:
        return NOTHING
    before = _files(ground)
    environment = {"CI": "1", "NO_COLOR": "1"}
    failed: dict[str, str] = {}
    for command in plan.prepare:
        place = box(plan, ground, env=environment)
        paths = f"{ground.root / 'node_modules' / '.bin'}{os.pathsep}{place.env['PATH']}"
        done = ground.sandbox.run(
            ["sh", "-c", command],
            box=replace(place, env={**place.env, "PATH": paths}),
            timeout_s=min(timeout_s, _LONGEST_S),
        )
        if done.exit_code != 0 or done.timed_out:
            failed[command] = "it was stopped at its time limit" if done.timed_out else done.text[-_TOLD:]
    return PreparedProject(failed=failed, built=_built(before, _files(ground) - before))


def with_failed_build(run: SuiteRun, prepared: PreparedProject, *, root: str) -> SuiteRun:
    """Tell of a build that failed, where the tests could not be loaded after it.

    Args:
        root: the checkout as the tests saw it.
    """
    if not prepared.failed or (run.outcomes and not run.collection_errors):
        return run
    errors: list[CollectionError] = []
    for command, output in prepared.failed.items():
        told = compiler_failures(output, root=root, test_file="")
        errors += [CollectionError(id=one.file or command, failure=one, text=one.text) for one in told]
        if not told:
            last = next((line for line in reversed(output.splitlines()) if line.strip()), "it failed")
            failure = Failure(exc_type="BuildFailed", message=f"{command}: {last}"[:MESSAGE_LIMIT], text=output)
            errors.append(CollectionError(id=command, failure=failure, text=output))
    known = {one.id for one in errors}
    return replace(run, collection_errors=(*errors, *(one for one in run.collection_errors if one.id not in known)))


def named_by_source(run: SuiteRun, prepared: PreparedProject) -> SuiteRun:
    """Name the tests of compiled files by the files that people write."""
    if not prepared.built:
        return run
    sources = {made: source for source, made in prepared.built.items()}

    def named(nodeid: str) -> str:
        path, mark, rest = nodeid.partition("::")
        return f"{sources.get(path, path)}{mark}{rest}"

    return replace(
        run,
        outcomes={named(name): replace(one, id=named(name)) for name, one in run.outcomes.items()},
        collected=tuple(named(one) for one in run.collected),
        collection_errors=tuple(replace(one, id=named(one.id)) for one in run.collection_errors),
    )


def _files(ground: TestSandbox) -> frozenset[str]:
    found: list[str] = []
    for folder, inner, names in os.walk(ground.checkout):
        inner[:] = [name for name in inner if name not in _SKIPPED]
        relative = os.path.relpath(folder, ground.checkout)
        found += [name if relative == "." else f"{relative}/{name}" for name in names]
    return frozenset(found)


def _built(before: frozenset[str], made: frozenset[str]) -> dict[str, str]:
    """Which source each new script was made of: the file with the longest same end of its path, but for the suffix."""
    by_name: dict[str, list[str]] = {}
    for path in before:
        if path.rpartition(".")[2] in _SOURCES and not path.endswith(".d.ts"):
            by_name.setdefault(PurePosixPath(path).stem, []).append(path)
    found: dict[str, str] = {}
    for path in sorted(made):
        if path.rpartition(".")[2] not in ("js", "mjs", "cjs"):
            continue
        fitting = by_name.get(PurePosixPath(path).stem, [])
        best = max(fitting, key=lambda one: _same_end(one, path), default="")
        if best:
            found.setdefault(best, path)
    return found


def _same_end(one: str, other: str) -> int:
    """How many folders above the file's name are the same, counted from the file."""
    first, second = PurePosixPath(one).parent.parts[::-1], PurePosixPath(other).parent.parts[::-1]
    return next(
        (at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
