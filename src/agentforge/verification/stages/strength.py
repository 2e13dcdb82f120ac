"""What the tests of a tree show about its changed lines: which of them each requirement's tests execute, which nobody does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentforge.languages.catalogue import runs_all
from agentforge.languages.changed_part import new_lines
from agentforge.suite import Edits, Rig, run_tree
from agentforge.testing.coverage import Traced, ranges_of, traced_of
from agentforge.testing.outcome import SuiteRun, without_parameters
from agentforge.underway import underway
from agentforge.verification.counterexamples.mutant_score import MutationBounds, with_noticed
from agentforge.verification.counterexamples.mutants import killed_by, measure_mutants
from agentforge.verification.counterexamples.mutants_by_runs import kept_builds, measure_mutants_by_runs
from agentforge.verification.counterexamples.nearest_tests import tests_near
from agentforge.verification.counterexamples.other_processes import reached_elsewhere
from agentforge.verification.stages.change import Change
from agentforge.verification.stages.requirement_coverage import requirement_rows
from agentforge.verification.stages.statements import (
    Statement,
    body_of,
    branches_not_taken,
    new_ones,
    statements,
    sum_of,
)
from agentforge.workspace.code.relevance import is_beside

_LISTED = 50
_ALSO_RUN = 300
_WHOLE_S = 120.0  # a suite that takes longer is not run once more for lines that no test near the change runs
_MUTANTS = "runs the tests against small wrong changes"
_KEEPING = ("refactor", "delete", "analyze")  # actions that change no behaviour of what they touch


def measure_strength(
    rig: Rig, change: Change, *, base_tree: str, red_tree: str, tree: str, bounds: MutationBounds
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run the new and the nearest existing tests once more, recorded line by line, then run mutants.

    Where these leave changed lines open, all tests of a suite that is no slow one are asked: `untested` is run by none of them.

    Returns:
        facts {coverage: {measured, note, lost, executable, executed, untested: [{path, lines, function, inert}],
        requirements: [{id, tests: [{id, changes: [{path, lines}]}], touches, note}]}, mutation: see measure_mutants}, and
        evidence {executed: test -> path -> ranges of changed lines, calls: those that the tests made of functions in the changed
        files}.
    """
    files = list(dict.fromkeys(str(test["id"]).partition("::")[0] for test in change.tests))
    if rig.plan.language != "python":
        return _by_runs(rig, change, files, base_tree=base_tree, red_tree=red_tree, tree=tree, bounds=bounds)
    edits = Edits(files={path: rig.git.show(red_tree, path) for path in change.frozen})
    quick, long = ([one for one in ids if one.partition("::")[0] not in files][:_ALSO_RUN]
                   for ids in (change.impacted, change.impacted_long))  # fmt: skip
    run = _recorded(rig, change, tree, tests=(*files, *quick), edits=edits)
    traced, passed = traced_of(run, product=change.lines), run.passed_ids
    changed = _changed_statements(rig, change, base_tree=base_tree, tree=tree)
    missed = _missed(changed, change, traced) if long else ()
    if any(not one.inert for one in missed):
        more, long = _recorded(rig, change, tree, tests=long, edits=edits), []
        traced, passed = traced.joined(traced_of(more, product=change.lines)), (*passed, *more.passed_ids)
    unrun = sorted({one.path for one in _missed(changed, change, traced) if not one.inert and not is_beside(one.path)})
    if unrun and traced.measured and not traced.lost and rig.usual_s <= _WHOLE_S:
        more = _recorded(rig, change, tree, tests=(), edits=edits, files=unrun, calls=False)
        traced = traced.joined(traced_of(more, product=change.lines))
        passed = tuple(dict.fromkeys((*passed, *more.passed_ids)))
    unseen = [one for one in _missed(changed, change, traced) if not one.inert]
    if unseen and traced.opaque and not traced.lost:
        with underway("looks for changed lines that other processes of the tests run"):
            traced = reached_elsewhere(
                rig, tree, unseen, traced=traced, passing=passed, edits=edits, within_s=bounds.seconds
            )
    coverage = _coverage(rig, change, run, traced, base_tree=base_tree, tree=tree, edits=edits)
    own = {without_parameters(str(test["id"])) for test in change.tests}
    passing = sorted(passed, key=lambda name: without_parameters(name) not in own)
    with underway(_MUTANTS):
        mutation = measure_mutants(
            rig, tree, changed=_without_moved(rig, change, changed, tree=tree), traced=traced, passing=passing,
            edits=edits, bounds=bounds, base_tree=base_tree,
        )  # fmt: skip
        if long and mutation["survivors"]:
            left = max(0.0, bounds.seconds - mutation["cpu_s"])
            noticed = killed_by(rig, tree, mutation["survivors"], tests=long, edits=edits, seconds=left)
            mutation = with_noticed(mutation, noticed)
    executed = {
        name: {path: ranges_of(bits) for path, lines in change.lines.items() if (bits := marks.get(path, 0) & lines)}
        for name, marks in traced.tests.items()
    }
    shown = {"executed": {name: one for name, one in executed.items() if one}, "calls": list(traced.calls)}
    return {"coverage": coverage, "mutation": mutation}, shown


def _recorded(
    rig: Rig,
    change: Change,
    tree: str,
    *,
    tests: Sequence[str],
    edits: Edits,
    files: Sequence[str] = (),
    calls: bool = True,
) -> SuiteRun:
    with underway("records which lines each test runs"):
        return run_tree(
            rig,
            tree,
            tests=tests,
            edits=edits,
            protected=tuple(change.frozen),
            trace=True,
            traced_files=files or _looked_at(change),
            calls=calls,
        )


def _missed(changed: Sequence[Statement], change: Change, traced: Traced) -> list[Statement]:
    """The changed statements that no test executes."""
    covered = {path: traced.lines(path) for path in change.lines}
    return [one for one in changed if not one.bits & covered.get(one.path, 0)]


def _by_runs(
    rig: Rig, change: Change, files: Sequence[str], *, base_tree: str, red_tree: str, tree: str, bounds: MutationBounds
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same for runners that record no lines: mutants alone, each in a run of the new tests and of those near the change."""
    edits = Edits(files={path: rig.git.show(red_tree, path) for path in change.frozen})
    near = tests_near(tuple(change.elsewhere), present=rig.git.list_files(tree), read=rig.read(tree))
    asked = () if runs_all(rig.plan) else tuple(dict.fromkeys((*files, *near)))
    with kept_builds(rig) as bench, underway(_MUTANTS):
        run = run_tree(
            bench, tree, tests=asked, edits=edits,
            protected=tuple(change.frozen),
        )  # fmt: skip
        coverage = _coverage(rig, change, run, traced_of(run, product={}), base_tree=tree, tree=tree, edits=edits)
        mutation = measure_mutants_by_runs(
            bench,
            tree,
            changed=_not_moved(rig, change, base_tree=base_tree, tree=tree),
            tests=asked,
            unchanged=run,
            edits=edits,
            bounds=bounds,
            base_tree=base_tree,
        )
    return {"coverage": coverage, "mutation": mutation}, {"executed": {}}


def _looked_at(change: Change) -> tuple[str, ...]:
    """The files of which it matters what the tests execute: recording all others would only cost time."""
    named = [path for ones in change.named.values() for path, _ in ones]
    return tuple(sorted({*change.lines, *change.shrunk, *named}))


def _coverage(
    rig: Rig, change: Change, run: SuiteRun, traced: Traced, *, base_tree: str, tree: str, edits: Edits
) -> dict[str, Any]:
    if not traced.measured:
        return {
            "measured": False, "note": traced.note, "lost": "", "executable": 0, "executed": 0, "untested": [],
            "requirements": [],
        }  # fmt: skip

    def record(files: Sequence[str], tests: Sequence[str]) -> Traced:
        return traced_of(_recorded(rig, change, tree, tests=tests, edits=edits, files=files))

    changed = _changed_statements(rig, change, base_tree=base_tree, tree=tree)
    missed = _missed(changed, change, traced)
    blind = bool(traced.lost) or any(str(test["id"]) in traced.opaque for test in change.tests)
    return {
        "measured": True,
        "note": traced.note,
        "lost": traced.lost if traced.lost and not _lost_at_base(rig, change, base_tree) else "",
        "blind": blind,
        "executable": len(changed),
        "executed": len(changed) - len(missed),
        "untested": _listed(
            missed,
            changed,
            change.declared | _owners(rig, change, base_tree),
            before=_untested_before(missed, rig, change, traced, base_tree=base_tree, tree=tree),
        ),
        "requirements": requirement_rows(rig, change, run, traced, tree=tree, blind=blind, record=record),
    }


def _lost_at_base(rig: Rig, change: Change, base_tree: str) -> bool:
    """Whether the project takes the recorder away itself: then the change is not to blame."""
    if change.traced_at_base:
        return False
    return bool(traced_of(run_tree(rig, base_tree, trace=True)).lost)


def _changed_statements(rig: Rig, change: Change, *, base_tree: str, tree: str) -> list[Statement]:
    """New and changed statements; what only moved, or for a refactoring was only renamed, is not new."""
    nameless = change.action == "refactor"
    after: list[Statement] = []
    before: list[Statement] = []
    unchanged: list[Statement] = []
    for path, lines in sorted(change.lines.items()):
        here = statements(path, rig.git.show(tree, path), nameless=nameless) if path.endswith(".py") else ()
        after += [one for one in here if one.bits & lines]
        unchanged += [one for one in here if not one.bits & lines]
    for path in sorted({*change.lines, *change.shrunk, *change.deleted}):
        if path.endswith(".py"):
            before += statements(path, rig.git.show(base_tree, path), nameless=nameless)
    gone = list(new_ones(before, unchanged))
    return list(new_ones(after, gone))


def _without_moved(rig: Rig, change: Change, changed: Sequence[Statement], *, tree: str) -> dict[str, int]:
    """The changed lines without those of statements that only moved, by path."""
    left = {}
    for path, lines in change.lines.items():
        new = sum_of(one for one in changed if one.path == path)
        here = statements(path, rig.git.show(tree, path)) if path.endswith(".py") else ()
        left[path] = lines & (new | ~sum_of(here))
    return left


def _not_moved(rig: Rig, change: Change, *, base_tree: str, tree: str) -> Mapping[str, int]:
    """The same where nothing reads statements: a line that the base had, in whatever file and however indented, only moved."""
    texts = {path: _text(rig, tree, path) for path in change.elsewhere}
    before = [_text(rig, base_tree, path) for path in sorted({*change.elsewhere, *change.shrunk, *change.deleted})]
    return new_lines(before, texts, change.elsewhere)


def _text(rig: Rig, tree: str, path: str) -> str:
    return (rig.git.show(tree, path) or b"").decode("utf-8", "replace")


def _untested_before(
    missed: Sequence[Statement], rig: Rig, change: Change, traced: Traced, *, base_tree: str, tree: str
) -> frozenset[Statement]:
    """Statements that take nothing from the tests: of files that no test loads and that stood at the base or lie in a folder of
    documentation, examples or benchmarks; of branches for another interpreter; what only spells names in another way where no
    test of the base ran it; and, where behaviour is to stay as it is, what lies in functions that no test of the base runs."""
    apart = {path for path in change.lines if "/" in path and is_beside(path)}
    unloaded = {
        path
        for path in change.lines
        if not traced.lines(path) and (path in apart or rig.git.show(base_tree, path) is not None)
    }
    found = {one for one in missed if one.path in unloaded}
    for path in {one.path for one in missed} - unloaded:
        before = rig.git.show(base_tree, path)
        elsewhere = branches_not_taken(rig.git.show(tree, path), before, loaded=traced.lines(path))
        found |= {one for one in missed if one.path == path and not one.bits & ~elsewhere}
    left = [one for one in missed if one.owner and one.path not in unloaded]
    respelled = {one: old for one in left if (old := _respelled(one, rig, base_tree=base_tree, tree=tree))}
    left = left if change.action in _KEEPING else list(respelled)
    if not left:
        return frozenset(found)
    also = [*change.impacted[:_ALSO_RUN], *change.impacted_long[:_ALSO_RUN]]
    files = {*also, *(str(test["id"]).partition("::")[0] for test in change.tests)}
    present = set(rig.git.list_files(base_tree))
    base = traced_of(
        run_tree(rig, base_tree, tests=sorted(one for one in files if one.partition("::")[0] in present), trace=True),
        product=change.lines,
    )
    for one in left if base.measured and not base.lost else ():
        ran = base.lines(one.path)
        body = body_of(rig.git.show(base_tree, one.path), one.owner) if change.action in _KEEPING else 0
        if (body and not body & ran) or any(not old.bits & ran for old in respelled.get(one, ())):
            found.add(one)
    return frozenset(found)


def _respelled(one: Statement, rig: Rig, *, base_tree: str, tree: str) -> list[Statement]:
    """The statements of the base in the same function that say the same with other names and are gone."""
    after, before = rig.git.show(tree, one.path), rig.git.show(base_tree, one.path)
    shape = next((new.shape for new in statements(one.path, after, nameless=True) if new.bits == one.bits), None)
    kept = {new.shape for new in statements(one.path, after) if new.owner == one.owner}
    gone = {old.bits for old in statements(one.path, before) if old.owner == one.owner and old.shape not in kept}
    return [old for old in statements(one.path, before, nameless=True) if old.shape == shape and old.bits in gone]


def _listed(
    missed: Iterable[Statement], changed: Sequence[Statement], known: frozenset[str], *, before: frozenset[Statement]
) -> list[dict[str, Any]]:
    """Untested statements, those of one function together; `extra` is a new function that nobody declared and nobody runs.

    Args:
        known: functions and classes that were declared or stood there before; what lies in them is theirs.
        before: statements whose place no test ran at the base either.
    """
    missed = tuple(missed)
    whole = {(one.path, one.owner) for one in changed if one.inside} - {
        (one.path, one.owner) for one in changed if one.inside and one not in missed
    }
    groups: dict[tuple[str, str, bool], list[Statement]] = {}
    for one in missed:
        groups.setdefault((one.path, one.owner, one.inert or one in before), []).append(one)
    rows = []
    for (path, owner, inert), ones in list(groups.items())[:_LISTED]:
        bits = 0
        for one in ones:
            bits |= one.bits
        extra = not inert and (path, owner) in whole and not _above(owner) & known
        rows.append(
            {
                "path": path, "lines": ",".join(ranges_of(bits)), "function": owner, "inert": inert, "extra": extra,
                "statements": len(ones),
            }
        )  # fmt: skip
    return rows


def _owners(rig: Rig, change: Change, base_tree: str) -> frozenset[str]:
    """Functions and classes of the changed files at the base."""
    found = [one for path in change.lines for one in statements(path, rig.git.show(base_tree, path))]
    return frozenset(one.owner for one in found if one.owner)


def _above(owner: str) -> frozenset[str]:
    parts = owner.split(".")
    return frozenset(".".join(parts[:end]) for end in range(1, len(parts) + 1))
