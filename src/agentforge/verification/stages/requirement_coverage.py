"""Which tests of each requirement execute what was changed for it, by more than loading the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentforge.languages.python.source import reached
from agentforge.suite import Rig
from agentforge.testing.coverage import Traced, ranges_of
from agentforge.testing.outcome import SuiteRun, test_and_row
from agentforge.verification.stages.change import Change
from agentforge.verification.stages.statements import bare_annotations, bodies_at, body_of, statements, sum_of

Record = Callable[[Sequence[str], Sequence[str]], Traced]
"""Record what some tests execute of some files: (files, ids of tests)."""


def requirement_rows(
    rig: Rig, change: Change, run: SuiteRun, traced: Traced, *, tree: str, blind: bool, record: Record
) -> list[dict[str, Any]]:
    """For each requirement what its tests execute of the change, and whether that ties them to it.

    Args:
        record: asked only where nothing else ties a requirement to the change; see `called_at_import`.
    """
    kinds = {str(test["id"]): str(test.get("kind", "")) for test in change.tests}
    inside, outside = _parts(rig, change, tree=tree)
    near = _near(rig, change, run, traced, tree=tree) if change.requirements else {}
    executable = any((*inside.values(), *outside.values()))
    rows = []
    for name, declared in change.requirements.items():
        ids = [one for one in run.outcomes if not _names_of(one).isdisjoint(declared)]
        tests: list[dict[str, Any]] = [
            {"id": one, "changes": _changes_of(one, inside, outside, near, traced)} for one in ids
        ]
        told = any(test["changes"] for test in tests)
        told = told and (
            _runs_named(rig, change.named.get(name, ()), ids, traced, tree=tree)
            or any(_by_loading(one, change, inside, traced) for one in tests if one["changes"])
        )
        if not told:
            at_import = called_at_import(
                rig, change, run, traced, ids, tree=tree, inside=inside, near=near, record=record
            )
            for test in tests:
                test["changes"] += _places(at_import.get(str(test["id"]), {}))
            told = bool(at_import) and _runs_named(rig, change.named.get(name, ()), (*ids, ""), traced, tree=tree)
        note = "" if told else _excuse(ids, kinds, change, near, blind=blind, executable=executable)
        rows.append({"id": name, "tests": tests, "touches": told or bool(note), "note": note})
    return rows


def _parts(rig: Rig, change: Change, *, tree: str) -> tuple[dict[str, int], dict[str, int]]:
    """Lines by which a test shows that it meets the change: those inside of functions, and those that loading the file executes.

    Of a changed head (a default, a decorator, a base class) the lines are those of the functions below it: whoever runs them
    goes through the head. Of a statement within a function all lines count, for a text over several lines leaves a trace of the
    first alone. A bare annotation, as a field of a dataclass is, leaves no trace: it counts as loaded.
    """
    inside: dict[str, int] = {}
    outside: dict[str, int] = {}
    for path, lines in change.lines.items():
        data = rig.git.show(tree, path)
        for one in statements(path, data):
            if not one.bits & lines:
                continue
            if one.defines:
                inside[path] = inside.get(path, 0) | bodies_at(data, one.first)
            else:
                part = inside if one.inside else outside
                part[path] = part.get(path, 0) | (one.bits if one.inside else one.bits & lines)
        outside[path] = outside.get(path, 0) | (bare_annotations(data) & lines)
    return inside, outside


def _near(rig: Rig, change: Change, run: SuiteRun, traced: Traced, *, tree: str) -> dict[str, frozenset[str]]:
    """The product files that each test loads or runs, by its id."""
    present = frozenset(rig.git.list_files(tree))
    wanted = {one.partition("::")[0] for ones in change.requirements.values() for one in ones}
    loads = {file: reached([file], present=present, roots=rig.plan.roots, read=rig.read(tree)) for file in wanted}
    return {
        one: loads[one.partition("::")[0]] | frozenset(traced.tests.get(one, {}))
        for one in run.outcomes
        if one.partition("::")[0] in loads
    }


def _changes_of(
    test: str, inside: Mapping[str, int], outside: Mapping[str, int], near: Mapping[str, frozenset[str]], traced: Traced
) -> list[dict[str, str]]:
    marks = traced.tests.get(test, {})
    found = {path: marks.get(path, 0) & lines for path, lines in inside.items()}
    for path, lines in outside.items():
        if path in near.get(test, ()):
            found[path] = found.get(path, 0) | lines
    return _places(found)


def _places(lines: Mapping[str, int]) -> list[dict[str, str]]:
    return [{"path": path, "lines": ",".join(ranges_of(bits))} for path, bits in lines.items() if bits]


def _runs_named(rig: Rig, named: Sequence[tuple[str, str]], ids: Sequence[str], traced: Traced, *, tree: str) -> bool:
    """Whether the tests run one of the functions that the requirement names; True when it names none that has lines.

    Args:
        ids: of the tests; "" stands for what loading the files executes.
    """
    bodies = [(path, body_of(rig.git.show(tree, path), name)) for path, name in named if path.endswith(".py")]
    known = [(path, lines) for path, lines in bodies if lines]
    return not known or any(traced.tests.get(one, {}).get(path, 0) & lines for path, lines in known for one in ids)


def _by_loading(test: Mapping[str, Any], change: Change, inside: Mapping[str, int], traced: Traced) -> bool:
    """Whether only what loading the changed files executes can have made a test pass: as for a name that is exported.

    It ran at the base and failed there, and of the changed functions it runs no line.
    """
    name, marks = str(test["id"]), traced.tests.get(str(test["id"]), {})
    failed = any(
        one["id"] == name and (one.get("kind"), one.get("outcome")) == ("target", "failed") for one in change.tests
    )
    return failed and not any(marks.get(path, 0) & lines for path, lines in inside.items())


def _names_of(nodeid: str) -> frozenset[str]:
    """How RED may declare a test: as the runner names it or with dots, the very row of a parametrised test or all of them."""
    whole, row = test_and_row(nodeid)
    path, _, rest = whole.partition("::")
    names = (whole, f"{path}::{rest.replace('::', '.')}")
    return frozenset((*names, *(f"{name}[{row}" for name in names if row)))


def _excuse(
    ids: Sequence[str],
    kinds: Mapping[str, str],
    change: Change,
    near: Mapping[str, frozenset[str]],
    *,
    blind: bool,
    executable: bool,
) -> str:
    """Why tests that execute no changed line may still be about the change; "" when nothing says so."""
    if blind:
        return "its tests start processes that could not be followed"
    if change.other:
        return f"the change has files that no tracer follows: {', '.join(change.other[:3])}"
    if change.deleted:
        return f"the change deletes {', '.join(change.deleted[:3])}"
    if not any(change.lines.values()):
        return "the change only removes lines"
    if not executable:
        return "the change has no line that is executed"
    if ids and all(kinds.get(one) == "guard" for one in ids):
        return "its tests only guard what was there"
    if any(near.get(one, frozenset()) & change.shrunk for one in ids):
        return "its tests load a file that only lost lines"
    return ""


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
