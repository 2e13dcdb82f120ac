"""After GREEN: with every changed function wrong, the targets must fail again. One that passes tests nothing, or is lied to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentforge.languages.catalogue import of_path
from agentforge.languages.stub_values import NullWay
from agentforge.suite import Edits, Rig, run_tree

_DOCUMENTS = (".md", ".rst", ".txt", ".pyi", ".d.ts", ".lock", "go.sum")


def hollow_targets(
    rig: Rig, *, base_tree: str, tree: str, changed: Sequence[str], targets: Sequence[str], edits: Edits,
    observed: Mapping[str, str] | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """Run the targets against the tree with wrong bodies under the real signatures of all changed functions.

    Nothing can be told of a change that is partly data (a constant, a field, a base class, a decorator, something taken away,
    a file of a language without null implementations): that part alone may rightly satisfy a target.

    Args:
        targets: ids of the new tests that failed at the base.
        edits: what every run of the tree gets.
        observed: function name -> type of the result that tests expect, for functions without an annotation.
    Returns:
        ids of targets that pass whichever way the functions are wrong; () when there is nothing to replace.
    """
    product = [one for one in changed if one not in edits.files and not one.endswith(_DOCUMENTS)]
    files = tuple(dict.fromkeys(nodeid.partition("::")[0] for nodeid in targets))
    left, before = set(targets), None
    for raising in (True, False):
        way = NullWay(seed=tree, raising=raising, observed=observed or {})
        wrong = _wrong_files(rig, base_tree, tree, product, way)
        if not wrong or not left:
            return ()
        if wrong != before:
            run = run_tree(rig, tree, tests=files, edits=Edits(files={**edits.files, **wrong}))
            left &= set(run.passed_ids)
        before = wrong
    return tuple(sorted(left))


def _wrong_files(rig: Rig, base_tree: str, tree: str, product: Sequence[str], way: NullWay) -> dict[str, bytes | None]:
    """The changed files with wrong functions; empty when the change is data, or a function has no wrong value."""
    made: dict[str, bytes | None] = {}
    for path in product:
        language, after = of_path(path), rig.git.show(tree, path)
        if language is None or language.null_implementation is None or after is None:
            return {}
        text = language.null_implementation(path, rig.git.show(base_tree, path), after, way=way)
        if text is None:
            return {}
        made |= {path: text} if text else {}
    return made
