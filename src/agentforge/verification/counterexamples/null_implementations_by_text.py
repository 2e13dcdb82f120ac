"""The same as `null_implementations.py` for languages whose functions are made wrong in their text.

With every changed function wrong, the targets must fail again. A target is told hollow only when it passes though the changed
functions panic, and passes though they give back a wrong value: one that expects a panic rightly passes the first alone.
Nothing is told of a change that is partly data.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentforge.languages.catalogue import of_path
from agentforge.languages.language import NullImplementation
from agentforge.suite.test_environment import Edits, Rig, run_tree

_DOCUMENTS = (".md", ".txt", ".rst", ".lock", "go.sum")


def hollow_by_text(
    rig: Rig, *, base_tree: str, tree: str, changed: Sequence[str], targets: Sequence[str], edits: Edits
) -> tuple[str, ...]:
    """Run the targets against the tree with wrong beginnings of all changed functions.

    Returns:
        ids of targets that pass under both; () when there is nothing to replace, or nothing can be told.
    """
    product = [one for one in changed if one not in edits.files and not one.endswith(_DOCUMENTS)]
    if not targets or not product or any(_maker(one) is None for one in product):
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
        make = _maker(path)
        text = (
            make(path, rig.git.show(base_tree, path), after, seed="" if raising else tree) if make is not None else None
        )
        if text is None:
            return {}
        made |= {path: text} if text else {}
    return made


def _maker(path: str) -> NullImplementation | None:
    language = of_path(path)
    return language.null_implementation if language is not None else None
