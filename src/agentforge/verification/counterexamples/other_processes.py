"""Statements that tests run in processes of which nothing was recorded: such a process is ended there, and its tests notice."""

from __future__ import annotations

import ast
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from agentforge.suite import Edits, Rig, run_tree
from agentforge.testing.coverage import Traced
from agentforge.testing.outcome import file_of
from agentforge.verification.stages.statements import Statement

_MOST = 12
"""Statements that are tried; of more, none is."""
_ENDS = '__import__("os")._exit(93)'


def reached_elsewhere(
    rig: Rig,
    tree: str,
    missed: Sequence[Statement],
    *,
    traced: Traced,
    passing: Collection[str],
    edits: Edits,
    within_s: float,
) -> Traced:
    """Add to what was recorded the statements that only other processes of the tests run.

    Each statement that no recorded process ran gets a line before it that ends its process. A test that passed and does not pass
    any more has run it. Asked are the tests that started processes of which nothing is known, and all others of their files,
    which may share such a process.

    Args:
        missed: statements that no recorded process ran.
        passing: ids of the tests that pass on the tree.
        within_s: seconds for the runs behind the first one, which has all statements at once: only the tests that notice
            that are asked about each statement by itself. What is not tried by then counts as not run.
    """
    started = set(map(file_of, traced.opaque))
    asked = sorted(name for name in passing if file_of(name) in started)
    texts = {
        path: (rig.git.show(tree, path) or b"").decode("utf-8", "replace") for path in {one.path for one in missed}
    }
    tried = [one for one in missed if one.inside and not one.defines and _ended(texts[one.path], [one.first])]
    if not asked or not tried or len(tried) > _MOST:
        return traced
    if len(tried) > 1:
        asked = _noticing(rig, tree, tried, texts, asked=asked, edits=edits)
        if not asked:
            return traced
    until = time.monotonic() + within_s
    found: dict[str, dict[str, int]] = {}
    for one in tried:
        if time.monotonic() >= until:
            break
        for name in _noticing(rig, tree, [one], texts, asked=asked, edits=edits):
            marks = found.setdefault(name, {})
            marks[one.path] = marks.get(one.path, 0) | one.bits
    return traced.joined(replace(Traced(tests=found), measured=True)) if found else traced


def _noticing(
    rig: Rig, tree: str, ones: Sequence[Statement], texts: Mapping[str, str], *, asked: Sequence[str], edits: Edits
) -> list[str]:
    """The tests that do not pass any more when every process that comes to one of the statements ends there."""
    files: dict[str, bytes | None] = dict(edits.files)
    for path in {one.path for one in ones}:
        files[path] = _ended(texts[path], [one.first for one in ones if one.path == path]).encode()
    run = run_tree(rig, tree, tests=asked, edits=replace(edits, files=files))
    passed = {*run.passed_ids}
    return [name for name in asked if name in run.outcomes and name not in passed]


def _ended(text: str, lines: Sequence[int]) -> str:
    """The source with an end of the process before the statements at these lines; "" where one does not begin its line."""
    try:
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    except (SyntaxError, ValueError):
        return ""
    rows = text.splitlines(keepends=True)
    places = {node.lineno: node.col_offset for node in reversed(nodes)}
    for line in sorted(lines, reverse=True):
        indent = rows[line - 1][: places.get(line, len(rows[line - 1]))]
        if line not in places or indent.strip():
            return ""
        rows.insert(line - 1, f"{indent}{_ENDS}\n")
    return "".join(rows)
