"""The same as `hollow.py` for Go, Rust and Java: with every changed function wrong, the targets must fail again.

A target is told hollow only when it passes though the changed functions panic, and passes though they give back a wrong value:
one that expects a panic rightly passes the first alone. Nothing is told of a change that is partly data.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from agentforge.suite.test_environment import Edits, Rig, run_tree

_DOCUMENTS = (".md", ".txt", ".rst", ".lock", "go.sum")


def hollow_native(
    rig: Rig, *, base_tree: str, tree: str, changed: Sequence[str], targets: Sequence[str], edits: Edits
) -> tuple[str, ...]:
    """Run the targets against the tree with wrong beginnings of all changed functions.

    Returns:
        ids of targets that pass under both; () when there is nothing to replace, or nothing can be told.
    """
    product = [one for one in changed if one not in edits.files and not one.endswith(_DOCUMENTS)]
    if not targets or not product or any(not native_language(one) for one in product):
        return ()
    left = set(targets)
    files = tuple(dict.fromkeys(nodeid.partition("::")[0] for nodeid in targets))
    for raising in (True, False):
        wrong = _wrong(rig, base_tree, tree, product, raising=raising)
        if not wrong:
            return ()
        run = run_tree(rig, tree, tests=files, edits=Edits(files={**edits.files, **wrong}))
        left &= set(run.passed_ids)
        if not left:
            return ()
    return tuple(sorted(left))


def _wrong(rig: Rig, base_tree: str, tree: str, product: Sequence[str], *, raising: bool) -> dict[str, bytes | None]:
    """The changed files with wrong functions; empty when the change is data, or a function has no wrong value."""
    made: dict[str, bytes | None] = {}
    for path in product:
        after = rig.git.show(tree, path)
        if after is None:
            return {}
        text = _text(path, rig.git.show(base_tree, path), after, seed="" if raising else tree)
        if text is None:
            return {}
        made |= {path: text} if text else {}
    return made


def _text(path: str, before: bytes | None, after: bytes, *, seed: str) -> bytes | None:
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
