"""Changed functions that loading their file calls, and the tests that only such a call can have made pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentforge.languages.python.imports import reached
from agentforge.suite import Rig
from agentforge.testing.coverage import Traced
from agentforge.testing.outcome import SuiteRun
from agentforge.verification.stages.change import Change
from agentforge.verification.stages.statements import statements, sum_of

Record = Callable[[Sequence[str], Sequence[str]], Traced]
"""Record what some tests execute of some files: (files, ids of tests)."""


def called_at_import(
    rig: Rig,
    change: Change,
    run: SuiteRun,
    traced: Traced,
    ids: Sequence[str],
    *,
    tree: str,
    inside: Mapping[str, int],
    near: Mapping[str, frozenset[str]],
    record: Record,
) -> dict[str, dict[str, int]]:
    """The changed lines in functions that loading their files executes, by the tests that show them and by path.

    A function that builds a constant, a class body or a default is called before any test begins. A test shows it when it failed
    at the base and passes now, runs no line of the changed functions itself, and runs a function of the same file or of a
    module that imports that file.

    Args:
        inside: the changed lines in functions, by path.
        near: the product files that each test loads or runs, by its id.
        record: asked about the modules that import the file, of which nothing is recorded yet.
    """
    called = {path: bits for path, lines in inside.items() if (bits := traced.tests.get("", {}).get(path, 0) & lines)}
    turned = {one for one in ids if _turned(one, change, run) and not _runs(one, inside, traced)}
    if not called or not turned:
        return {}
    functions = {path: _function_lines(rig, path, tree=tree) for path in called}
    shown = {one: {path for path in called if _runs(one, {path: functions[path]}, traced)} for one in turned}

    present, waiting = frozenset(rig.git.list_files(tree)), [one for one in sorted(turned) if not shown[one]]
    users: dict[str, frozenset[str]] = {}
    for file in sorted({file for one in waiting for file in near.get(one, ())} - called.keys() - {*change.frozen}):
        loads = reached([file], present=present, roots=rig.plan.roots, read=rig.read(tree)) & called.keys()
        if loads:
            users[file] = loads
    if users:
        more = record(sorted(users), waiting)
        lines = {file: _function_lines(rig, file, tree=tree) for file in users}
        for one in waiting:
            ran = [file for file in users if _runs(one, {file: lines[file]}, more)]
            shown[one] = {path for file in ran for path in users[file]}
    return {one: {path: called[path] for path in sorted(paths)} for one, paths in shown.items() if paths}


def _turned(test: str, change: Change, run: SuiteRun) -> bool:
    """Whether a target failed at the base and passes now; one that could not be loaded there says nothing."""
    failed = any((one["id"], one.get("kind"), one.get("outcome")) == (test, "target", "failed") for one in change.tests)
    return failed and run.outcomes[test].passed


def _runs(test: str, lines: Mapping[str, int], traced: Traced) -> bool:
    marks = traced.tests.get(test, {})
    return any(marks.get(path, 0) & bits for path, bits in lines.items())


def _function_lines(rig: Rig, path: str, *, tree: str) -> int:
    return sum_of(one for one in statements(path, rig.git.show(tree, path)) if one.inside)
