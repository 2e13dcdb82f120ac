"""Does a test watch the place of a violation? Asked by execution: the code there is made to fail, and tests must notice."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from agentforge.suite.test_environment import Edits, run_tree
from agentforge.workspace.code.relevance import is_test_path

if TYPE_CHECKING:
    from agentforge.conformance.engine.finding import Finding
    from agentforge.suite.test_environment import Rig

_MOST_PLACES = 6
_RAISE = 'raise RuntimeError("made to fail, to see which test notices")'


def unguarded(findings: Iterable[Finding], rig: Rig, *, tree: str, passing: Iterable[str]) -> list[str]:
    """Name the places (`path` or `path: function`) whose failure no passing test notices.

    Only Python product code can be asked; places in tests and in other languages are not named. At most six places are
    asked, each costs a run of the suite.

    Args:
        passing: ids of the tests that pass at `tree`.
    """

    known = set(passing)
    places: dict[str, tuple[str, bytes]] = {}
    for finding in findings:
        source = rig.git.show(tree, finding.path) if _can_be_asked(finding.path) else None
        probe = broken_at(source, finding.line) if source is not None else None
        if probe is not None:
            places[f"{finding.path}: {probe[0]}" if probe[0] else finding.path] = (finding.path, probe[1])
    names = []
    for name, (path, text) in list(places.items())[:_MOST_PLACES]:
        run = run_tree(rig, tree, edits=Edits(files={path: text})) if known else None
        if run is None or (run.complete and known <= set(run.passed_ids)):
            names.append(name)
    return names


def broken_at(source: bytes, line: int) -> tuple[str, bytes] | None:
    """Make the innermost function around a line fail, else the module; None when the source does not parse.

    Returns:
        The function's name ("" = the module) and the source that fails there.
    """
    try:
        tree = ast.parse(source)
        text = source.decode("utf-8")
    except (SyntaxError, ValueError):
        return None
    lines = text.splitlines(keepends=True)
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _holds(node, line)
    ]
    if around:
        function = max(around, key=lambda node: node.lineno)
        first = _after_docstring(function.body)
        if first.lineno == function.lineno:
            return None
        at, indent, name = first.lineno - 1, " " * first.col_offset, function.name
    else:
        body = [node for node in tree.body if not _is_future(node)]
        if not body:
            return None
        at, indent, name = _after_docstring(body).lineno - 1, "", ""
    lines.insert(at, f"{indent}{_RAISE}\n")
    return name, "".join(lines).encode()


def passing_ids(evidence: Mapping[str, object], facts: Mapping[str, object]) -> list[str]:
    """Tests that pass: those of the base line, and the guards that were measured since."""
    known = evidence.get("passed_ids")
    tests = facts.get("tests")
    rows = tests if isinstance(tests, (list, tuple)) else ()
    ids = [str(one) for one in known] if isinstance(known, (list, tuple)) else []
    return ids + [str(row["id"]) for row in rows if row.get("outcome") == "passed"]


def _can_be_asked(path: str) -> bool:
    return path.endswith(".py") and not is_test_path(path)


def _holds(node: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _after_docstring(body: list[ast.stmt]) -> ast.stmt:
    first = body[0]
    documented = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return body[1] if documented and len(body) > 1 else first


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
