"""Measures whether tests that change with the product still test it: against wrong versions of what they called at the base."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentforge.languages.language import Mutant
from agentforge.languages.python.mutants import python_mutants
from agentforge.suite import Edits, Rig, run_tree, sound
from agentforge.testing.coverage import Traced, traced_of
from agentforge.testing.outcome import without_parameters
from agentforge.underway import underway
from agentforge.verification.counterexamples.mutant_score import MutationBounds, choose
from agentforge.verification.counterexamples.mutants import noticing
from agentforge.verification.refits.comparison import (
    Noticing,
    Refits,
    Refitted,
    hidden_refits,
    told_of_looks,
    told_of_refits,
)
from agentforge.verification.refits.separate_runs import measure_by_runs
from agentforge.verification.refits.wrong_functions import (
    SKEWED,
    WHOLE,
    ProductFunction,
    product_functions,
    wrong_versions,
)
from agentforge.verification.stages.changed_fixtures import TestTree, words_of_test
from agentforge.workspace.code.relevance import is_test_path

_FUNCTIONS, _EACH = 12, 4
_LEAST_S = 8.0  # of CPU for each tree: a dozen functions and their small changes
_SAID = "compares what changed tests notice, before and after"


def measure_refits(
    rig: Rig, refits: Refits, *, base_tree: str, tree: str, edits: Edits, bounds: MutationBounds
) -> dict[str, Any]:
    """Run the tests with their old text at the base and with the new one on the tree, against the same kinds of mistakes.

    Returns:
        {measured, note, compared: ids, not_compared: ids, lost: [{id, path, function, text}]}.
    """
    if not refits.ids:
        return told_of_refits(refits, "")
    with underway(_SAID):
        if rig.plan.language == "javascript":
            return measure_by_runs(rig, refits, base_tree=base_tree, tree=tree, edits=edits, bounds=bounds)
        if rig.plan.language != "python":
            return told_of_refits(refits, f"nothing is measured for the runner {rig.plan.runner}")
        before = _traced(rig, base_tree, refits.ids, Edits(files={}))
        after = _traced(rig, tree, [*refits.ids, *refits.beside], edits)
        if not before.traced.measured:
            return told_of_refits(refits, f"it is not known what each test executes: {before.traced.note}")
        if not after.traced.measured:
            return hidden_refits(
                refits, f"what it executes could be recorded at the base and cannot now: {after.traced.note}"
            )
        return _compared(rig, refits, before, after, replace(bounds, seconds=max(bounds.seconds, _LEAST_S)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One tree, what its tests executed there, and what passes."""

    tree: str
    edits: Edits
    traced: Traced
    passing: frozenset[str]

    def executing(self, function: ProductFunction) -> tuple[str, ...]:
        """The passing tests that execute a function's body."""
        return tuple(one for one in self.traced.executing(function.path, function.bits) if one in self.passing)


def _traced(rig: Rig, tree: str, tests: Sequence[str], edits: Edits) -> _Side:
    run = run_tree(rig, tree, tests=sorted({without_parameters(one) for one in tests}), edits=edits, trace=True)
    traced = traced_of(run)
    if not sound(run, rig.plan) or traced.lost:
        traced = Traced(note=traced.note or "the tests do not run by themselves")
    return _Side(tree=tree, edits=edits, traced=traced, passing=frozenset(run.passed_ids))


def _compared(rig: Rig, refits: Refits, before: _Side, after: _Side, bounds: MutationBounds) -> dict[str, Any]:
    entries = _called(rig, refits, before, after)
    old = _look(rig, before, [one.before for one in entries], bounds, only=frozenset(refits.ids))
    new, pairs = _paired_look(rig, after, entries, old, bounds, rig.read(before.tree))
    if old.told and not new.told:
        return hidden_refits(
            refits, "it passes beside wrong versions of the product at the base, and cannot run beside them now"
        )
    entries = [replace(one, pairs=pairs) for one in entries]
    fresh = _by_new_functions(rig, refits, before, after, bounds)
    return told_of_looks(refits, entries, old, new, fresh)


def _called(rig: Rig, refits: Refits, before: _Side, after: _Side) -> list[Refitted]:
    """The functions that the changed tests ran and name at the base, and that are still there; moved ones, too."""
    ran_in = {path for side in (before, after) for marks in side.traced.tests.values() for path in marks}
    touched = {change.path for change in rig.git.changed(before.tree, after.tree) if _is_product(change.path)}
    now = [one for path in sorted(ran_in | touched) for one in _functions(rig, after, path)]
    known = {(one.path, one.owner): one for one in now}
    files = TestTree(read=rig.read(before.tree), present=rig.git.list_files(before.tree), roots=rig.plan.roots)
    words = {test: words_of_test(test, files) for test in refits.ids}
    found: list[Refitted] = []
    paths = sorted({path for test in refits.ids for path in before.traced.tests.get(test, {})})
    for one in (function for path in paths for function in _functions(rig, before, path)):
        ran = [test for test in before.executing(one) if one.name in words.get(test, ())]
        moved = [other for other in now if other.owner == one.owner]
        there = known.get((one.path, one.owner)) or (moved[0] if len(moved) == 1 else None)
        if ran and there is not None:
            found.append(Refitted(before=one, after=there, runs=frozenset(after.executing(there))))
    return found[:_FUNCTIONS]


def _functions(rig: Rig, side: _Side, path: str) -> tuple[ProductFunction, ...]:
    return product_functions(path, rig.git.show(side.tree, path))


def _is_product(path: str) -> bool:
    return path.endswith(".py") and not is_test_path(path)


def _versions(rig: Rig, side: _Side, functions: Sequence[ProductFunction], lines: Collection[str]) -> list[Mutant]:
    """Functions that are wrong as a whole, and all small changes of the lines that some tests execute in them."""
    found: list[Mutant] = []
    for one in functions:
        data = rig.git.show(side.tree, one.path) or b""
        ran = 0
        for test in lines:
            ran |= side.traced.tests.get(test, {}).get(one.path, 0)
        found += wrong_versions(one, data)
        found += [made for made in python_mutants(one.path, data, lines=ran & one.bits) if made.owner == one.owner]
    return found


def _look(
    rig: Rig, side: _Side, functions: Sequence[ProductFunction], bounds: MutationBounds, *, only: frozenset[str]
) -> Noticing:
    drawn = _drawn(_versions(rig, side, functions, only), bounds)
    return _seen(rig, side, functions, drawn, bounds, only=only)


def _drawn(versions: Sequence[Mutant], bounds: MutationBounds) -> list[Mutant]:
    """What is run: every function that is wrong as a whole, then of each a few small changes."""
    nulls = [one for one in versions if one.kind in WHOLE]
    small = [one for one in versions if one.kind not in WHOLE]
    owners = dict.fromkeys((one.path, one.owner) for one in small)
    for key in owners:
        own = [one for one in small if (one.path, one.owner) == key]
        nulls += choose(own, seed=bounds.seed, most=_EACH)
    return nulls


def _seen(
    rig: Rig,
    side: _Side,
    functions: Sequence[ProductFunction],
    versions: Sequence[Mutant],
    bounds: MutationBounds,
    *,
    only: frozenset[str] | None = None,
) -> Noticing:
    """Run versions against the tests that execute what is wrong in them."""
    bodies = {(one.path, one.owner): one for one in functions}
    asked: list[list[str]] = []
    for one in versions:
        body = bodies[one.path, one.owner]
        whole = body.returns if one.kind == SKEWED else body.bits
        lines = whole if one.kind in WHOLE else ((1 << (one.last - one.line + 1)) - 1) << one.line
        names = [name for name in side.traced.executing(one.path, lines) if name in side.passing]
        asked.append([name for name in names if only is None or name in only])
    noticed = noticing(rig, side.tree, versions, asked, edits=side.edits, bounds=bounds)
    unrun = {number: frozenset[str]() for number, names in enumerate(asked) if not names}
    told = not any(asked) or noticed is not None
    return Noticing(
        versions=versions, noticed={**unrun, **(noticed or {})}, told=told,
        asked={number: frozenset(names) for number, names in enumerate(asked)},
    )  # fmt: skip


def _paired_look(
    rig: Rig, after: _Side, entries: Sequence[Refitted], old: Noticing, bounds: MutationBounds, read_old: Any
) -> tuple[Noticing, dict[int, int]]:
    """The look at the delivered tree, and which of its small changes are those of the base: same line, same mistake."""
    functions = [one.after for one in entries]
    every = _versions(rig, after, functions, sorted(after.passing))
    moved = {(one.before.path, one.before.owner): (one.after.path, one.after.owner) for one in entries}
    here = {
        key: one
        for one in every
        if one.kind not in WHOLE
        for key in _keys(one, (one.path, one.owner), rig.read(after.tree))
    }
    partners: dict[int, Mutant] = {}
    for number, one in enumerate(old.versions):
        if one.kind not in WHOLE and old.noticed.get(number):
            found = next((here[key] for key in _keys(one, moved[one.path, one.owner], read_old) if key in here), None)
            if found is not None:
                partners[number] = found
    drawn = _drawn(every, bounds)
    wanted = list({id(one): one for one in partners.values()}.values())
    nulls = [one for one in drawn if one.kind in WHOLE]
    versions = [*nulls, *wanted, *(one for one in drawn if one.kind not in WHOLE and one not in wanted)]
    look = _seen(rig, after, functions, versions, bounds)
    place = {id(one): number for number, one in enumerate(versions)}
    return look, {number: place[id(one)] for number, one in partners.items()}


def _keys(one: Mutant, owner: tuple[str, str], read: Any) -> Iterator[tuple[str, ...]]:
    lines = (read(one.path) or b"").decode("utf-8", "replace").splitlines()
    text = "\n".join(line.strip() for line in lines[one.line - 1 : one.last])
    yield (*owner, one.kind, one.before, one.after, text)


_WORD = re.compile(r"\w+")


def _by_new_functions(rig: Rig, refits: Refits, before: _Side, after: _Side, bounds: MutationBounds) -> frozenset[str]:
    """The tests that notice when a function does nothing that is new and of which people's own words speak."""
    words = set(_WORD.findall(refits.told))
    paths = sorted({path for test in refits.ids for path in after.traced.tests.get(test, {})})
    old = {one.owner for path in paths for one in _functions(rig, before, path)}
    new = [
        one
        for path in paths
        for one in _functions(rig, after, path)
        if one.owner not in old and one.name in words and set(after.executing(one)) & set(refits.ids)
    ]
    versions = [made for one in new for made in wrong_versions(one, rig.git.show(after.tree, one.path) or b"")]
    look = _seen(rig, after, new, versions, bounds, only=frozenset(refits.ids))
    return frozenset(name for names in look.noticed.values() for name in names)
