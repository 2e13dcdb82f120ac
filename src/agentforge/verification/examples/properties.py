"""Properties: expressions over `x` that are true for every input; with a literal in its place each is a claim."""

from __future__ import annotations

import ast
import re


def with_input(source: str, given: str, *, python: bool) -> str:
    """The expression with the literal in the place of `x`; "" when it cannot be made.

    Args:
        python: else it is JavaScript, where an expression with texts of its own is left alone.
    """
    if not python:
        return re.sub(r"\bx\b", lambda _: f"({given})", source) if not re.search(r"['\"`\n]", source) else ""
    try:
        value = ast.parse(given, mode="eval").body
        ast.literal_eval(value)
        tree = ast.parse(source, mode="eval")
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return ""
    return ast.unparse(_Put(value).visit(tree))


class _Put(ast.NodeTransformer):
    def __init__(self, value: ast.expr) -> None:
        self._value = value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Put the value in the place of x."""
        return self._value if node.id == "x" else node
