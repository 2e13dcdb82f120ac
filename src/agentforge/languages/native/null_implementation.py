"""A Go, Rust or Java file in which every changed function begins with a wrong statement; nothing is told of changed data."""

from __future__ import annotations

from agentforge.languages.native.source import (
    Function,
    data_of,
    functions,
    native_language,
    native_tree,
    with_statements,
)
from agentforge.languages.native.values import RAISES, statement
from agentforge.languages.stub_values import drawn


def null_implementation(path: str, before: bytes | None, after: bytes, *, seed: str) -> bytes | None:
    """A file with wrong changed functions; empty when none changed, None when nothing can be told of it.

    Args:
        seed: draws the wrong values; "" = they raise.
    """
    language = native_language(path)
    old, new = (before or b"").decode("utf-8", "replace"), after.decode("utf-8", "replace")
    roots = native_tree(language, old), native_tree(language, new)
    if roots[0] is None or roots[1] is None or data_of(roots[0]) != data_of(roots[1]):
        return None
    known = {one.node.text() for one in functions(roots[0], language)}
    fresh = [one for one in functions(roots[1], language) if one.node.text() not in known]
    if any(one.constructor for one in fresh):
        return None
    statements = [(one, _statement(one, seed=seed)) for one in fresh]
    if not all(said for _, said in statements):
        return None
    return with_statements(new, statements).encode("utf-8", "surrogateescape") if fresh else b""


def _statement(function: Function, *, seed: str) -> str:
    if not seed:
        return RAISES[function.language]
    return drawn(statement(function, "wrong"), seed=seed) or statement(function, "empty")
