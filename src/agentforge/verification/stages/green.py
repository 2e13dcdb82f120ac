"""GREEN's facts: the tree to be committed passes the frozen tests, k times in random order, and breaks nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentforge.languages.catalogue import is_compiled
from agentforge.languages.symbols import Symbol
from agentforge.languages.test_parts import put_back_in, with_tests_as
from agentforge.suite import Edits, Rig, controls, failing_text, run_tree, sound
from agentforge.testing.outcome import SuiteRun, TestOutcome, file_of, is_hook, run_value, without_parameters
from agentforge.underway import underway
from agentforge.verification.source.evasion import by_practice, new_suppressions
from agentforge.verification.source.moved_tests import moved_tests, place_of
from agentforge.verification.source.runner_configuration import steering_by
from agentforge.verification.source.test_hashes import FrozenTests, compare, freeze
from agentforge.verification.stages.chance_names import chance_names
from agentforge.verification.stages.changed_fixtures import TestTree, changed_as_declared, tests_with_changed_fixtures
from agentforge.verification.stages.classification import BROKEN, Expectation, mistake
from agentforge.verification.stages.endings import NO_RESULT, doctests_of, early_end, ended_in, thinned
from agentforge.verification.stages.existing_tests import broken_under_old_text, rewritten_unsaid, run_old
from agentforge.verification.stages.product_files import outside
from agentforge.verification.stages.test_imports import names_to_come
from agentforge.workspace.code.relevance import is_test_path

_LISTED = 50
_LOSSES = ("regressions", "missing", "superseded", "refitted", "rewritten", "thinned", "under_old_text")
_AGAIN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What the tree is held against.

    Attributes:
        red: RED's facts: `tests`, `frozen` and `frozen_files` are read.
        baseline: evidence of the base line: `passed_ids`, `flaky_ids` and `outcomes` are read.
        scope: paths, folders ("pkg/") or patterns that the specification lets the change touch.
        removed: test files that the specification lets disappear.
        superseded: existing tests (`path::name`) of which the specification says that it changes or removes them.
        vanished: last names of symbols that the request asks to remove or rename: a test of the base that is measured to fail for
            want of one of them, and for nothing else, has ended with it.
        gone: last names of all symbols that the specification removes.
        symbols: those that the specification declares.
        told: people's own words.
        inspected: no requirement needs a test, so that there need not be a new one.
        repeats: runs of the new tests in random order, >= 1.
        seed: of the random orders; recorded in the facts.
    """

    red: Mapping[str, Any]
    baseline: Mapping[str, Any]
    scope: Sequence[str] = ()
    removed: Sequence[str] = ()
    superseded: Sequence[str] = ()
    vanished: Sequence[str] = ()
    gone: Sequence[str] = ()
    symbols: Sequence[Symbol] = ()
    told: str = ""
    inspected: bool = False
    repeats: int = 2
    seed: int = 1

    @property
    def frozen(self) -> FrozenTests:
        """What RED froze."""
        return FrozenTests(tests=self.red.get("frozen", {}), files=self.red.get("frozen_files", {}))

    @property
    def required(self) -> tuple[str, ...]:
        """Ids of the new tests, targets and guards; a guard that is skipped here asks for nothing, and a hook is no test."""
        told = [str(test["id"]) for test in self.red.get("tests", ()) if test.get("outcome") != "skipped"]
        return tuple(one for one in told if not is_hook(one))


def measure_green(
    rig: Rig, promise: Promise, *, base_tree: str, red_tree: str, tree: str, only: Sequence[str] = ()
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judge a tree: fresh checkout, frozen tests and the base's runner configuration put back, compared by id sets.

    Args:
        tree: the tree to be committed.
        only: look at these tests alone (ids or files); such a look can find regressions, and cannot rule them out.
    Returns:
        facts {all_tests_pass, no_regressions, suite: {passed, required, failing}, regressions, missing, superseded, refitted,
        rewritten (pass alone with a fixture or text that the specification changes), thinned (cases that are gone),
        under_old_text (regressions only with the base's own files of tests), newly_passing, belongs_to: [{stage, rule, path,
        message}] (RED or SPEC can repair it), frozen_changed, config_changed, config_asked, out_of_scope, new_suppressions,
        flaky, controls, ended_early, tests_run, passed, seed, duration_s, problems, failing_text}, evidence {whole, repeats}
    """
    changed = [change.path for change in rig.git.changed(base_tree, tree)]
    before, after, frozen_paths = rig.read(base_tree), rig.read(tree), promise.frozen.whole
    config, asked = steering_by(promise.told, changed, before=before, after=after, allowed=frozen_paths)
    edits = honest_edits(rig, promise, base_tree=base_tree, red_tree=red_tree, tree=tree)
    said = "runs the tests nearest to the change" if only else "runs the whole suite on the change"
    with underway(said, usual_s=0.0 if only else rig.usual_s):
        whole = run_tree(rig, tree, tests=only, edits=edits, protected=_protected(rig, tree, changed, frozen_paths))
    promise = _narrowed(promise, only) if only else promise
    promise, strange = _steady(rig, promise, whole, base_tree=base_tree, red_tree=red_tree)
    with underway("runs the new tests alone, in other orders"):
        runs = _suite_runs(rig, promise, tree, edits, whole)
    failing, flaky = _suite_result(promise, [whole, *runs])
    lost = _lost(rig, promise, tree, edits, whole)
    lost |= _without_replaced(lost["missing"], rig, promise, base_tree=base_tree, tree=tree, edits=edits, now=whole)
    found = new_suppressions(changed, before=before, after=after)
    refused, told = by_practice([one for one in found if one.path not in frozen_paths], before=before)
    lost["regressions"] += strange
    lost |= _hidden_losses(lost, rig, promise, base_tree=base_tree, tree=tree, edits=edits, whole=whole)
    unsaid = rewritten_unsaid(lost, rig, base_tree=base_tree, red_tree=red_tree)
    held = all(sound(run, rig.plan) for run in (whole, *runs))
    facts = {
        "all_tests_pass": held and (bool(promise.required) or promise.inspected) and not failing and not flaky,
        "no_regressions": held and not lost["regressions"] and not lost["missing"] and "unmeasured" not in lost,
        **_heard(promise, failing, early_end([whole, *runs], [*failing, *lost["missing"]], at="change")),
        **{name: lost.get(name, []) for name in _LOSSES},
        "newly_passing": _newly_passing(promise, whole),
        "belongs_to": [
            *(_own_mistakes(failing, (whole, *runs), promise, rig, tree) if failing else unsaid),
            *_left_behind(lost["regressions"], whole, promise),
        ],
        "frozen_changed": list(compare(promise.frozen, after)),
        **{"config_changed": list(config), **({"config_asked": list(asked)} if asked else {})},
        "out_of_scope": outside(changed, promise.scope, promise.frozen, before=before, after=after),
        "new_suppressions": [{"path": one.path, "line": one.line, "text": one.text} for one in refused],
        "told_suppressions": [{"path": one.path, "line": one.line, "text": one.text} for one in told],
        "flaky": sorted({*flaky, *lost["flaky"]}),
        "controls": {**controls(whole, rig.plan), "repeats": len(runs), "held": held},
        **{"tests_run": len(whole.outcomes), "passed": len(whole.passed_ids), "seed": promise.seed},
        "duration_s": round(whole.duration_s + sum(run.duration_s for run in runs), 3),
        "problems": list(dict.fromkeys(problem for run in (whole, *runs) for problem in run.problems)),
        "failing_text": failing_text(
            whole if not runs else runs[0], limit=600, only=(*failing, *lost["regressions"]), also=whole
        ),
    }
    return facts, {"whole": run_value(whole), "repeats": [run_value(run) for run in runs]}


def _heard(promise: Promise, failing: Mapping[str, str], early: Mapping[str, Any]) -> dict[str, Any]:
    suite = {
        "passed": len(promise.required) - len(failing),
        "required": len(promise.required),
        "failing": [{"id": nodeid, "text": text} for nodeid, text in list(failing.items())[:_LISTED]],
    }
    return {"suite": suite, **early}


def _steady(rig: Rig, promise: Promise, whole: SuiteRun, *, base_tree: str, red_tree: str) -> tuple[Promise, list[str]]:
    """The promise without names that neither the base nor RED's tree has again, and what fails under such a name now."""
    passed, required = list(promise.baseline.get("passed_ids", ())), promise.required
    if not whole.complete:
        return promise, []
    base = [one for one in passed if file_of(one) not in promise.removed]
    found = chance_names(rig, whole, base=base, base_tree=base_tree, required=required, red_tree=red_tree)
    if not found.names:
        return promise, []
    tests = [one for one in promise.red.get("tests", ()) if str(one["id"]) not in found.names]
    kept = [one for one in passed if one not in found.names]
    steady = replace(promise, red={**promise.red, "tests": tests}, baseline={**promise.baseline, "passed_ids": kept})
    return steady, found.failing(whole, known={*passed, *required})


def _narrowed(promise: Promise, only: Sequence[str]) -> Promise:
    """The promise as far as some tests go."""
    files = {one for one in only if "::" not in one}
    kept = [one for one in promise.baseline.get("passed_ids", ()) if one in only or one.partition("::")[0] in files]
    return replace(promise, baseline={**promise.baseline, "passed_ids": kept})


def honest_edits(rig: Rig, promise: Promise, *, base_tree: str, red_tree: str, tree: str) -> Edits:
    """What every run of a tree gets: frozen files as RED left them, steering files as the base has them."""
    frozen = promise.frozen.whole
    changed = [change.path for change in rig.git.changed(base_tree, tree)]
    before, after = rig.read(base_tree), rig.read(tree)
    config, _ = steering_by(promise.told, changed, before=before, after=after, allowed=frozen)
    files = {path: rig.git.show(base_tree, path) for path in config}
    inner = put_back_in(promise.frozen.parts, frozen=rig.read(red_tree), now=rig.read(tree))
    return Edits(files={**files, **inner, **{path: rig.git.show(red_tree, path) for path in frozen}})


def _protected(rig: Rig, tree: str, changed: Sequence[str], frozen: Sequence[str]) -> tuple[str, ...]:
    """What a run must leave as it is: the frozen files, and the changed sources that it is about."""
    sources = [path for path in changed if path.endswith(".py") and rig.git.show(tree, path) is not None]
    return tuple(dict.fromkeys([*frozen, *sources]))


def _suite_runs(rig: Rig, promise: Promise, tree: str, edits: Edits, whole: SuiteRun) -> list[SuiteRun]:
    """The new tests alone, in random orders; once only when they do not pass in the whole suite."""
    files = tuple(dict.fromkeys(file_of(nodeid) for nodeid in promise.required))
    if not files:
        return []
    met = [_rows(nodeid, whole) for nodeid in promise.required]
    inside = all(met)
    passed = inside and all(one.passed for rows in met for one in rows)
    count = promise.repeats if passed or not inside else 1
    frozen = promise.frozen.whole
    single = rig.plan.runner in ("pytest", "unittest")  # a file may hold many other tests
    alone = tuple(dict.fromkeys(map(without_parameters, promise.required))) if single else files
    return [
        run_tree(rig, tree, tests=alone, seed=promise.seed + number, edits=edits, protected=frozen)
        for number in range(count)
    ]


def _suite_result(promise: Promise, runs: Sequence[SuiteRun]) -> tuple[dict[str, str], list[str]]:
    """New tests that do not pass (id -> why), and those that pass in one run and not in another."""
    failing: dict[str, str] = {}
    flaky: list[str] = []
    limit = float(promise.red.get("test_limit_s") or 0)
    for nodeid in promise.required:
        seen = [one for run in runs for one in _rows(nodeid, run)]
        bad = [one for one in seen if not one.passed]
        if not seen:
            failing[nodeid] = NO_RESULT if any(run.early_end for run in runs) else "was not collected"
        elif limit and max(one.duration_s for one in seen) > limit:
            failing[nodeid] = f"does not end within {limit:.0f} s, the limit at which it was stopped at the base"
        elif bad:
            text = bad[0].failure.text if bad[0].failure else f"is {bad[0].outcome}"
            failing[nodeid] = text
            if len(bad) < len(seen):
                flaky.append(nodeid)
    return failing, flaky


def _rows(nodeid: str, run: SuiteRun) -> list[TestOutcome]:
    """The outcomes of a required test; where RED could not load its file, the test is required with each of its rows."""
    if nodeid in run.outcomes or "[" in nodeid:
        return [run.outcomes[nodeid]] if nodeid in run.outcomes else []
    return [one for name, one in run.outcomes.items() if name.startswith(f"{nodeid}[")]


def _lost(rig: Rig, promise: Promise, tree: str, edits: Edits, whole: SuiteRun) -> dict[str, list[str]]:
    """What passed at the base and does not now: regressions, missing ids, and tests that flicker."""
    before = set(promise.baseline.get("passed_ids", ())) - set(promise.required)
    known_flaky = set(promise.baseline.get("flaky_ids", ()))
    now = set(whole.passed_ids)
    suspects = {one for one in before - now if one in whole.outcomes}
    missing = {one for one in before if one not in whole.outcomes}
    if whole.complete:
        missing = {one for one in missing if file_of(one) not in promise.removed}
    suspects -= known_flaky
    came_back: set[str] = set()
    for repeat in range(1, _AGAIN + 1):
        if suspects - came_back:
            files = sorted({file_of(one) for one in suspects})  # some tests pass only after others of their file
            again = run_tree(rig, tree, tests=files, edits=edits, repeat=repeat)
            came_back |= suspects & set(again.passed_ids)
    return {
        "regressions": sorted(suspects - came_back)[:_LISTED],
        "missing": sorted(missing)[:_LISTED],
        "flaky": sorted(came_back),
    }


def _without_replaced(
    missing: Sequence[str], rig: Rig, promise: Promise, *, base_tree: str, tree: str, edits: Edits, now: SuiteRun
) -> dict[str, list[str]]:
    """Leave out tests with another id now that still pass as the base has them, and those that the specification ends."""
    paths = {file_of(one) for one in missing} & {*promise.frozen.whole, *promise.frozen.parts}
    before = {path: with_tests_as(path, then=rig.read(base_tree), now=rig.read(tree)) for path in sorted(paths)}
    held: set[str] = set()
    if before:
        again = run_tree(rig, tree, tests=list(before), edits=Edits(files={**edits.files, **before}))
        held = set(again.passed_ids) if sound(again, rig.plan) else set()
    moved = moved_tests(rig, base_tree, tree) if missing else {}
    held |= {one for one in missing if place_of(one, moved) in now.passed_ids}
    left = [one for one in missing if one not in held]
    gone = _ended(left, rig, promise, base_tree=base_tree, tree=tree, edits=edits)
    ended = [one for one in left if without_parameters(one) in promise.superseded or one in gone]
    return {
        "missing": [one for one in left if one not in ended],
        "superseded": ended,
        "thinned": thinned(ended, now, superseded=promise.superseded, told=promise.told, before=promise.baseline),
    }


def _ended(
    ids: Sequence[str], rig: Rig, promise: Promise, *, base_tree: str, tree: str, edits: Edits
) -> frozenset[str]:
    """The tests that, as the base has them, fail on the tree for want of what the request asks to remove."""
    doctests = doctests_of(ids, promise.vanished)
    paths = sorted({file_of(one) for one in ids if one not in doctests}) if promise.vanished else []
    then, now = rig.read(base_tree), rig.read(tree)
    before = {path: data for path in paths if (data := with_tests_as(path, then=then, now=now)) is not None}
    if not before:
        return doctests
    run = run_old(rig, tree, tests=list(before), files=before, edits=edits, gone=promise.gone)
    return doctests | ended_in(run, ids, promise.vanished)


def _own_mistakes(
    failing: Mapping[str, str], runs: Sequence[SuiteRun], promise: Promise, rig: Rig, tree: str
) -> list[dict[str, str]]:
    """New tests that no implementation can satisfy, because they are broken themselves: RED's to repair."""
    files = (*promise.frozen.whole, *promise.frozen.parts)
    to_come = names_to_come(rig, tree, files, symbols=promise.symbols, changing=promise.scope) if failing else {}
    expected = Expectation(symbols=(), test_files=files, to_come=to_come)
    rows = []
    for nodeid in failing:
        outcomes = [run.outcomes[nodeid] for run in runs if nodeid in run.outcomes]
        failures = [one.failure for one in outcomes if one.failure is not None and one.failure.exc_type in BROKEN]
        wrong = mistake(failures[0], expected, running=True) if failures else ""
        if wrong:
            rows.append({"stage": "red", "rule": "right-reason", "path": nodeid, "message": f"{nodeid} {wrong}"})
    return rows


def _left_behind(regressions: Sequence[str], whole: SuiteRun, promise: Promise) -> list[dict[str, str]]:
    """Tests of the base that fail because they still use what the request asks to remove: RED takes them out or changes them."""
    left = ended_in(whole, regressions, promise.vanished)
    return [
        {"stage": "red", "rule": "no-regressions", "path": one,
         "message": f"{one} uses {', '.join(promise.vanished)}, which the request removes: take it out or change it"}
        for one in sorted(left)
    ]  # fmt: skip


def _hidden_losses(
    lost: Mapping[str, list[str]],
    rig: Rig,
    promise: Promise,
    *,
    base_tree: str,
    tree: str,
    edits: Edits,
    whole: SuiteRun,
) -> dict[str, list[str]]:
    """Add to the regressions what only a changed test, golden file or fixture of the base keeps from showing."""
    changed = [change.path for change in rig.git.changed(base_tree, tree)]
    passed = set(promise.baseline.get("passed_ids", ())) - set(promise.baseline.get("flaky_ids", ()))
    known = {*lost["regressions"], *lost["missing"], *lost["superseded"]}
    broken = broken_under_old_text(
        rig, tree, changed=changed, base_tree=base_tree, passed=passed, edits=edits, gone=promise.gone
    )
    if broken is None:
        return {"unmeasured": ["the tests of the base as they stood there"]}
    kept = _kept_beside(broken, rig, promise, base_tree=base_tree, tree=tree, whole=whole)
    left = [one for one in broken if one not in known and one not in kept]
    fitted = _fitted(set(left) & set(whole.passed_ids), rig, promise, base_tree=base_tree, tree=tree, edits=edits)
    left = [one for one in left if one not in fitted]
    gone = _ended(left, rig, promise, base_tree=base_tree, tree=tree, edits=edits)
    ended = [one for one in left if without_parameters(one) in promise.superseded or one in gone]
    hidden = [one for one in left if one not in ended]
    return {
        "regressions": sorted({*lost["regressions"], *hidden})[:_LISTED],
        "superseded": sorted({*lost["superseded"], *ended}),
        "refitted": sorted(fitted),
        "rewritten": sorted({*lost["superseded"], *ended} & set(whole.passed_ids)),
        "under_old_text": sorted(set(hidden) & set(whole.passed_ids))[:_LISTED],
    }


def _fitted(
    ids: Collection[str], rig: Rig, promise: Promise, *, base_tree: str, tree: str, edits: Edits
) -> frozenset[str]:
    """The tests that pass as they stood when nothing of the tests is new but what the specification declares as their fixture."""
    before, after = rig.read(base_tree), rig.read(tree)
    files = TestTree(read=after, present=rig.git.list_files(tree), roots=rig.plan.roots)
    asking = tests_with_changed_fixtures(ids, superseded=promise.superseded, before=before, after=files)
    new = (
        {file_of(one) for one in changed_as_declared(promise.superseded, before=before, after=after)}
        if asking
        else set()
    )
    touched = {change.path for change in rig.git.changed(base_tree, tree) if is_test_path(change.path)} - new
    old = {path: data for path in sorted(touched) if asking and (data := before(path)) is not None}
    if not old:
        return asking
    tests = sorted({file_of(one) for one in asking})
    run = run_old(rig, tree, tests=tests, files=old, edits=edits, gone=promise.gone)
    return asking & frozenset(run.passed_ids) if sound(run, rig.plan) else frozenset()


def _kept_beside(
    broken: Sequence[str], rig: Rig, promise: Promise, *, base_tree: str, tree: str, whole: SuiteRun
) -> frozenset[str]:
    """Tests of a compiled language that pass with the text that they had: what the specification changes beside them, and
    nothing else, keeps the base's text from being compiled."""
    if not is_compiled(rig.plan) or not promise.superseded:
        return frozenset()
    paths = sorted({file_of(one) for one in broken})
    before, after = (freeze(paths, read=rig.read(one)).tests for one in (base_tree, tree))
    passed = set(broken) & set(whole.passed_ids)
    names = {one: without_parameters(one) for one in passed}
    return frozenset(one for one, name in names.items() if name in before and before[name] == after.get(name))


def _newly_passing(promise: Promise, whole: SuiteRun) -> list[str]:
    """Tests of the base that did not pass there and pass now."""
    outcomes: Mapping[str, str] = promise.baseline.get("outcomes", {})
    return [one for one in whole.passed_ids if one in outcomes and outcomes[one] != "passed"][:_LISTED]
