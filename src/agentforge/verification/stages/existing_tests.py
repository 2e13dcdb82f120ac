"""Existing tests that a tree changes or deletes, and those that only got more rows."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from agentforge.verification.source.test_hashes import function_hashes, test_functions

Read = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Altered:
    """What became of the tests of the base.

    Attributes:
        lost: tests that are changed, deleted or renamed and of which the specification does not say so: (id, what).
        extended: parametrised tests that kept all their rows and got more.
    """

    lost: tuple[tuple[str, str], ...]
    extended: frozenset[str]


def altered_tests(paths: Iterable[str], *, before: Read, after: Read, superseded: Collection[str] = ()) -> Altered:
    """Compare the tests of files of the base with what a tree makes of them.

    Args:
        superseded: tests (`path::name`) that the specification lists as changed or removed.
    """
    lost: list[tuple[str, str]] = []
    extended: set[str] = set()
    for path in sorted(set(paths)):
        old, new = before(path) or b"", after(path)
        now = dict(function_hashes(new or b""))
        for name, digest in dict(function_hashes(old)).items():
            nodeid = f"{path}::{name}"
            if now.get(name) == digest or nodeid in superseded:
                continue
            if name in now and _only_more_rows(old, new or b"", name):
                extended.add(nodeid)
            else:
                lost.append((nodeid, "was deleted" if name not in now else "was changed"))
    return Altered(lost=tuple(lost), extended=frozenset(extended))


def _only_more_rows(old: bytes, new: bytes, name: str) -> bool:
    """Whether a test is the same but for rows that `parametrize` got in addition."""
    before = {found: node for found, node, _ in test_functions(old)}[name]
    after = {found: node for found, node, _ in test_functions(new)}[name]
    if [ast.dump(one) for one in before.body] != [ast.dump(one) for one in after.body]:
        return False
    if ast.dump(before.args) != ast.dump(after.args) or len(before.decorator_list) != len(after.decorator_list):
        return False
    pairs = zip(before.decorator_list, after.decorator_list, strict=True)
    return all(ast.dump(one) == ast.dump(other) or _extends(one, other) for one, other in pairs)


def _extends(before: ast.expr, after: ast.expr) -> bool:
    rows = []
    for node in (before, after):
        if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith("parametrize") or len(node.args) != 2:
            return False
        if not isinstance(node.args[1], (ast.List, ast.Tuple)):
            return False
        rows.append(Counter(ast.dump(one) for one in node.args[1].elts))
    same = isinstance(before, ast.Call) and isinstance(after, ast.Call) and _frame(before) == _frame(after)
    return same and not rows[0] - rows[1]


def _frame(node: ast.Call) -> tuple[str, ...]:
    """What of `parametrize` must stay: the names, and every keyword but the ids of the rows."""
    return (ast.dump(node.args[0]), *(ast.dump(one) for one in node.keywords if one.arg != "ids"))
