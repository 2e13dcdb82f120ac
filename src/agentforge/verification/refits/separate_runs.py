"""The same for runners that need a run for each wrong version: functions that are wrong as a whole, and no small mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from agentforge.languages.language import Mutant
from agentforge.suite import Edits, Rig
from agentforge.testing.outcome import file_of
from agentforge.verification.counterexamples.mutant_score import MutationBounds
from agentforge.verification.counterexamples.mutants_by_runs import noticing_by_runs
from agentforge.verification.counterexamples.nearest_tests import imported_scripts
from agentforge.verification.refits.comparison import (
    Noticing,
    Refits,
    Refitted,
    hidden_refits,
    told_of_looks,
    told_of_refits,
)
from agentforge.verification.refits.wrong_functions import (
    NULL,
    SKEWED,
    ProductFunction,
    product_functions,
    wrong_versions,
)
from agentforge.verification.stages.changed_fixtures import TestTree, words_of_test
from agentforge.workspace.code.relevance import is_test_path

_FUNCTIONS, _FILES = 6, 300
_LEAST_S = 15.0  # for each tree


def measure_by_runs(
    rig: Rig, refits: Refits, *, base_tree: str, tree: str, edits: Edits, bounds: MutationBounds
) -> dict[str, Any]:
    """As `measure_refits`, where nothing tells what a test executes: what it names is tried."""
    seconds = max(bounds.seconds, _LEAST_S)
    entries = _named(rig, refits, base_tree, tree)
    files = tuple(dict.fromkeys(map(file_of, refits.ids)))
    old = _look(rig, base_tree, [one.before for one in entries], files, Edits(files={}), refits, seconds)
    seen = [one for one in entries if any(old.noticed[number] & set(refits.ids) for number in old.of(one.before))]
    if not seen:
        return told_of_refits(refits, "at the base they notice nothing of what they name")
    beside = tuple(dict.fromkeys([*files, *(path for path in refits.beside if "::" not in path)]))
    new = _look(rig, tree, [one.after for one in seen], beside, edits, refits, seconds)
    if not new.told:
        return hidden_refits(
            refits, "it passes by itself at the base, and cannot run without the rest of the suite now"
        )
    return told_of_looks(refits, seen, old, new)


def _named(rig: Rig, refits: Refits, base_tree: str, tree: str) -> list[Refitted]:
    """The functions of the product that the tests named at the base and that are still there; what most of them name first."""
    files = TestTree(read=rig.read(base_tree), present=rig.git.list_files(base_tree), roots=rig.plan.roots)
    words = Counter(word for test in refits.ids for word in words_of_test(test, files))
    touched = {change.path for change in rig.git.changed(base_tree, tree)}
    tests = tuple(dict.fromkeys(map(file_of, refits.ids)))
    now = [one for path in sorted(_loaded(rig, tree, tests) | touched) for one in _functions(rig, tree, path)]
    found = []
    for one in (one for path in sorted(_loaded(rig, base_tree, tests)) for one in _functions(rig, base_tree, path)):
        there = [other for other in now if other.owner == one.owner]
        same = [other for other in there if other.path == one.path] or there
        if words[one.name] and len(same) == 1:
            found.append(Refitted(before=one, after=same[0]))
    return sorted(found, key=lambda one: -words[one.before.name])[:_FUNCTIONS]


def _loaded(rig: Rig, tree: str, tests: Sequence[str]) -> frozenset[str]:
    """The files that tests import, directly or through others."""
    read, present = rig.read(tree), frozenset(rig.git.list_files(tree))
    seen: set[str] = set()
    left = [*tests]
    while left and len(seen) < _FILES:
        path = left.pop()
        new = imported_scripts(path, read(path) or b"", present) - seen
        seen |= new
        left += sorted(new)
    return frozenset(seen)


def _functions(rig: Rig, tree: str, path: str) -> tuple[ProductFunction, ...]:
    if path.endswith(".py") or is_test_path(path):
        return ()
    return product_functions(path, rig.git.show(tree, path))


def _look(
    rig: Rig,
    tree: str,
    functions: Sequence[ProductFunction],
    files: Sequence[str],
    edits: Edits,
    refits: Refits,
    seconds: float,
) -> Noticing:
    made = [one for function in functions for one in wrong_versions(function, rig.git.show(tree, function.path) or b"")]
    versions = sorted(_first_of_each(made), key=lambda one: one.kind != SKEWED)
    passing, noticed = noticing_by_runs(rig, tree, versions, files=files, edits=edits, seconds=seconds)
    asked = {
        number: passing & frozenset(refits.refitted) if one.kind == SKEWED else passing
        for number, one in enumerate(versions)
    }
    return Noticing(versions=versions, noticed=noticed, asked=asked, told=bool(passing))


def _first_of_each(versions: Collection[Mutant]) -> list[Mutant]:
    """Of each function one version that does nothing, and the one with another result."""
    found: dict[tuple[str, str, str], Mutant] = {}
    for one in versions:
        if one.kind in (NULL, SKEWED):
            found.setdefault((one.path, one.owner, one.kind), one)
    return list(found.values())
