"""What becomes of tests that stood at the base: which RED rewrote, and whether their old text still holds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping

from agentforge.runners.freeze import test_functions
from agentforge.runners.rig import Edits, Rig, run_tree, sound
from agentforge.workspace.relevance import is_test_path

Read = Callable[[str], bytes | None]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Test = tuple[Function, tuple[ast.ClassDef, ...]]

_LISTED = 50


def rewritten_tests(
    changed: Iterable[str], *, before: Read, after: Read, superseded: Collection[str]
) -> tuple[str, ...]:
    """List tests of the base (`path::name`) that are gone or say something else, but for those that the specification ends.

    A test that only got more rows of `parametrize` says what it said.

    Args:
        changed: paths that differ between the base and RED's tree.
        superseded: existing tests that the specification changes or removes.
    """
    found: list[str] = []
    for path in changed:
        old, new = _tests(before(path)), _tests(after(path))
        names = [name for name, one in old.items() if name not in new or not _says(new[name], one)]
        found += [f"{path}::{name}" for name in names if f"{path}::{name}" not in superseded]
    return tuple(found)


def broken_under_old_text(
    rig: Rig, tree: str, *, changed: Iterable[str], base_tree: str, passed: Collection[str], edits: Edits
) -> tuple[str, ...] | None:
    """Run the tests of the base as they stood there, data and fixtures included, and list those that no longer pass.

    A change of tests and their data may hide what it broke: a golden file written anew, a widened tolerance in a constant.

    Args:
        passed: ids that passed at the base.
    Returns:
        () when nothing of the base's tests was changed; None when the run is no evidence.
    """
    files: Mapping[str, bytes] = {
        path: data for path in changed if is_test_path(path) and (data := rig.git.show(base_tree, path)) is not None
    }
    if not files:
        return ()
    concerned = passed if any(not _holds_tests(path, data) for path, data in files.items()) else ()
    wanted = sorted({one.partition("::")[0] for one in concerned} | {path for path in files if _is_run(path, passed)})
    if not wanted:
        return ()
    run = run_tree(rig, tree, tests=wanted, edits=Edits(files={**edits.files, **files}))
    if not sound(run, rig.plan):
        return None
    ran = [one for one in passed if one.partition("::")[0] in wanted]
    return tuple(sorted(one for one in ran if one not in run.passed_ids)[:_LISTED])


def _tests(data: bytes | None) -> dict[str, Test]:
    """The tests of a file; the last one of a name is the one that runs."""
    return {name: (node, classes) for name, node, classes in test_functions(data or b"")}


def _says(new: Test, old: Test) -> bool:
    """Whether a test says at least what it said: the same code and marks, and every row that it had."""
    if _without_rows(new) != _without_rows(old):
        return False
    return all(row in _rows(new[0]) for row in _rows(old[0]))


def _without_rows(test: Test) -> list[str]:
    node, classes = test
    marks = [ast.dump(one) for one in node.decorator_list if not _is_parametrize(one)]
    marks += [ast.dump(one) for owner in classes for one in owner.decorator_list]
    return [type(node).__name__, ast.dump(node.args), *(ast.dump(one) for one in node.body), *marks]


def _rows(node: Function) -> list[str]:
    """Every row of every `parametrize` of a test, with the names that it is for."""
    rows: list[str] = []
    for one in node.decorator_list:
        if isinstance(one, ast.Call) and _is_parametrize(one):
            names = ast.dump(one.args[0]) if one.args else ""
            values = one.args[1] if len(one.args) > 1 else None
            listed = values.elts if isinstance(values, (ast.List, ast.Tuple)) else [one]
            rows += [f"{names} {ast.dump(value)}" for value in listed]
    return rows


def _is_parametrize(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parametrize"


def _holds_tests(path: str, data: bytes) -> bool:
    """Whether a file holds tests; anything else (data, fixtures, conftest.py) may serve every test."""
    return path.endswith(".py") and bool(_tests(data))


def _is_run(path: str, passed: Collection[str]) -> bool:
    return any(one.partition("::")[0] == path for one in passed)
