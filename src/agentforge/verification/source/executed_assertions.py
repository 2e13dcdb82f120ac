"""Counts the assertions that a test executes: one whose assertions all stand in loops or under conditions may reach none."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

NEVER_RAN = "no assertion of this test was executed"
_ASSERTING = ("assert", "raises", "warns", "check", "verify", "expect", "fail", "match", "should", "compare", "ensure")


def conditional_only(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether every assertion of a test stands where it may never be reached: in a loop or under a condition."""
    inside = [one for one in ast.walk(node) if isinstance(one, ast.Assert)]
    return bool(inside) and not any(_unconditional(node.body))


def counted(data: bytes, names: Collection[str]) -> bytes:
    """The text of a test file in which the named tests fail when none of their assertions was executed."""
    tree = ast.parse(data)
    for name, node in _nodes(tree):
        if name in names:
            _Counting().generic_visit(node)
            node.body.insert(0, ast.parse("_executed_ = []").body[0])
            node.body.append(ast.parse(f"assert _executed_, {NEVER_RAN!r}").body[0])
    return ast.unparse(ast.fix_missing_locations(tree)).encode("utf-8", "surrogateescape")


def _nodes(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for one in node.body:
                if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield f"{node.name}::{one.name}", one


class _Counting(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        """Count an assertion where it is executed."""
        return [ast.parse("_executed_.append(1)").body[0], node]

    def visit_With(self, node: ast.With) -> list[ast.stmt]:
        """Count a block that asserts what happens in it, such as `raises`."""
        self.generic_visit(node)
        told = any(_asserts(one.context_expr) for one in node.items)
        return [*(ast.parse("_executed_.append(1)").body if told else ()), node]


def _unconditional(body: Iterable[ast.stmt]) -> Iterator[bool]:
    """One entry for each statement that surely asserts: an assertion, `raises`, or a call that asserts by its name."""
    for node in body:
        if isinstance(node, ast.Assert):
            yield True
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            if any(_asserts(one.context_expr) for one in node.items):
                yield True
            yield from _unconditional(node.body)
        elif isinstance(node, ast.Try):
            yield from _unconditional([*node.body, *node.finalbody])
        elif isinstance(node, ast.Expr) and _asserts(node.value):
            yield True


def _asserts(node: ast.AST) -> bool:
    """Whether a call checks something, as far as its name says."""
    if isinstance(node, ast.Raise):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func).rpartition(".")[2].lower()
    return any(word in name for word in _ASSERTING)
