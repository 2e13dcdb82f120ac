"""What the verifier measures for each stage. Every fact comes from git, the runners or the checks, never from the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from agentforge.contracts.check import check, draft_schema
from agentforge.contracts.contract import Contract
from agentforge.contracts.inspection import by_inspection_alone, by_measurement_alone
from agentforge.events.state.run_state import RunState
from agentforge.languages.symbols import symbols_of
from agentforge.languages.test_parts import inner_tests, lines_of_tests, may_hold_tests, only_tests_changed
from agentforge.pipeline.delivery.commit import make_commit
from agentforge.pipeline.engine.disputes import overruled_tests
from agentforge.pipeline.engine.rulings import amended, ruled_tests, superseded
from agentforge.pipeline.facts import early_facts as early
from agentforge.pipeline.facts.added_tests import declared_tests, measure_added, unmet_facts
from agentforge.pipeline.facts.asserted_examples import asserted_examples
from agentforge.pipeline.facts.conformance_facts import compared
from agentforge.pipeline.facts.contradictions import disputes
from agentforge.pipeline.facts.held_out import outside_facts
from agentforge.pipeline.facts.impact import looked_at_first
from agentforge.pipeline.facts.inspection import inert_facts, must_be_inert, unneeded
from agentforge.pipeline.facts.repeated_calls import repeated_facts
from agentforge.pipeline.facts.roads import road_facts
from agentforge.pipeline.facts.source_findings import check_facts, deceptions, out_of_scope, words_of_people
from agentforge.pipeline.facts.speed import speed_facts, statement_facts
from agentforge.pipeline.facts.test_adequacy import refit_facts, strength
from agentforge.pipeline.facts.time_limits import bounded_rig, timed_rig
from agentforge.pipeline.ledger.placement import untold_values
from agentforge.pipeline.model.profile import profile_of
from agentforge.pipeline.model.revisits import is_open, is_opened_again
from agentforge.pipeline.model.runtime import Measured, Runtime, evidence_of
from agentforge.pipeline.model.scope import gone_names, product_scope, product_symbols, suite_files, vanished_names
from agentforge.pipeline.model.stage import Json, Stage, action_of, items, texts
from agentforge.pipeline.plugins.added_stage import paths_written
from agentforge.pipeline.plugins.stage_order import FIRST_WRITER, last_measured
from agentforge.pipeline.small_models.refactoring.requests import carry_out, put_tests
from agentforge.pipeline.small_models.refactoring.syntax_tree import by_tree
from agentforge.pipeline.stages.red import joined_suite
from agentforge.pipeline.workflows.fix.measurement import FIX_MEASURES
from agentforge.pipeline.workflows.split.parts import measure_plan
from agentforge.suite import Rig, run_tree
from agentforge.testing.coverage import bits_of, ranges_of
from agentforge.testing.outcome import file_of, name_of, without_parameters
from agentforge.underway import underway
from agentforge.verification.examples.stated_values import stated_in
from agentforge.verification.source.test_hashes import FrozenTests, test_hashes
from agentforge.verification.stages.baseline import measure_baseline
from agentforge.verification.stages.green import Promise, honest_edits, measure_green
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import language_of

_LISTED = 200
_TEST_LEAST_S, _TEST_FACTOR = 5.0, 3.0


def draft_errors(state: RunState, stage: Stage, contract: Contract) -> list[dict[str, object]]:
    """Every way in which a draft breaks the shape that was asked for, where that ends the matter.

    The stages that run no test measure such a draft all the same, so that every finding comes at once.
    """
    assert state.review.submission is not None
    if state.review.submission.by != "model" or stage.measures_any_shape:
        return []
    draft = state.review.submission.draft
    shape = replace(contract, json_schema=draft_schema(contract, omit=stage.omit), rules=())
    if is_opened_again(state, stage.name):
        draft = joined_suite(state, draft)
    return [item.value() for item in check(shape, draft, facts={}, inputs={}).failures]


def measure_base(state: RunState, runtime: Runtime, *, attempt: int) -> Measured:
    """The base line: the whole suite at the base commit, several runs where something fails."""
    tree = runtime.git.tree_of(state.identity.base_commit)
    facts, evidence = measure_baseline(timed_rig(state, runtime), tree=tree)
    listed = [path for path in runtime.git.list_files(state.identity.base_commit) if is_test_path(path)]
    tests = sorted(listed, key=lambda path: language_of(path) is None)  # data of the tests only where there is room
    facts |= {"test_files": tests[:_LISTED], "attempt": attempt, "sandbox": runtime.sandbox.kind}
    return Measured(facts=facts, evidence=evidence, tree=tree)


def measure(state: RunState, stage: Stage, runtime: Runtime) -> Measured:
    """Measure what the contract of a stage judges; without a row in `_MEASURES` the whole tree, where the stage may write.

    Raises:
        InfrastructureError: the measurement itself is impossible (no sandbox, no interpreter).
    """
    assert state.review.submission is not None
    own = _MEASURES.get(stage.produces)
    if stage.after or own is None:
        return _without_row(state, stage, runtime)
    return own(state, state.review.submission.draft, runtime)


def _intake(state: RunState, draft: Json, runtime: Runtime) -> Measured:
    """A report changes nothing, so nothing stands in its way."""
    intent = _mapping(draft.get("extracted_intent"))
    found = disputes(state, runtime) if intent.get("action") != "analyze" else []
    return Measured(
        facts={**early.intake_facts(state, draft, disputed=bool(found)), **({"disputes": found} if found else {})}
    )


def _clarify(state: RunState, draft: Json, runtime: Runtime) -> Measured:
    return Measured(facts=early.clarify_facts(state, draft, runtime))


def _analyze(state: RunState, draft: Json, runtime: Runtime) -> Measured:
    return Measured(facts=early.analyze_facts(state, draft, runtime))


def _spec(state: RunState, draft: Json, runtime: Runtime) -> Measured:
    return Measured(facts={**early.spec_facts(state, draft, runtime), **statement_facts(state, draft, runtime)})


def _red(state: RunState, draft: Json, runtime: Runtime) -> Measured:
    if is_open(state):
        return measure_added(state, draft, runtime)
    given = _put_given(state, runtime)
    emptied = _take_away_emptied(state, runtime)
    tree = _snapshot(runtime)
    if given or emptied:  # this was done by no step of the model: no snapshot holds it yet
        runtime.keep(state, tree)
    declared = (
        supplied_tests(state.brief.tests, patient_rig(state, runtime), tree)
        if state.brief.tests
        else declared_tests(draft)
    )
    declared += [{"path": path, "name": name, "kind": ""} for path, name in overruled_tests(state, by="base")]
    facts, evidence = _measured_suite(state, runtime, declared, tree)
    passing = {str(row["id"]) for row in items(facts.get("tests")) if row.get("outcome") == "passed"}
    if given and passing:  # a supplied test that passes today is a guard: the user need not say so
        declared = [
            {**test, "kind": "guard"} if f"{test['path']}::{test['name']}" in passing else test for test in declared
        ]
        facts, evidence = _measured_suite(state, runtime, declared, tree)
    sources = "\n\0\n".join(stated_in(path, _source(runtime, tree, path)) for path in _written(state, draft))
    facts["examples"] = asserted_examples(state, bounded_rig(state, runtime), sources)
    facts["asks"] = untold_values(state, sources)
    return Measured(facts=facts, evidence=evidence, tree=tree)


def _take_away_emptied(state: RunState, runtime: Runtime) -> bool:
    """Remove the test files of which RED left nothing, as none of its tools can; tells whether there were any."""
    found = False
    for change in runtime.git.changed(_base(state), runtime.guard.known() or _snapshot(runtime)):
        file = runtime.worktree / change.path
        if not is_test_path(change.path) or not file.is_file() or file.is_symlink() or file.read_bytes().strip():
            continue
        own = change.status == "added" and language_of(change.path) and "test" in file.name.lower()
        if own or any(test_hashes(change.path, runtime.git.show(_base(state), change.path) or b"")):
            file.unlink()
            found = True
    return found


def _measured_suite(
    state: RunState, runtime: Runtime, declared: list[dict[str, object]], tree: str
) -> tuple[dict[str, object], dict[str, object]]:
    spec = state.work.artifacts.get("spec", {})
    suite = Suite(
        tests=declared,
        symbols=product_symbols(spec),
        modified=product_scope(spec),
        action="refactor" if by_measurement_alone(spec, state.work.artifacts.get("intake", {})) else action_of(state),
        support=(*state.brief.tests, *_ended(state)),
        superseded=superseded(state),
        vanished=vanished_names(spec, words_of_people(state)),
        told=words_of_people(state),
        inspected=by_inspection_alone(spec),
    )
    return measure_red(patient_rig(state, runtime), suite, base_tree=_base(state), red_tree=tree)


def patient_rig(state: RunState, runtime: Runtime) -> Rig:
    """For new tests on old code: one that takes longer than the whole suite of the base several times over does not end."""
    whole = state.work.facts.get("baseline", {}).get("duration_s")
    seconds = float(whole) if isinstance(whole, (int, float)) else 0.0
    rig = bounded_rig(state, runtime)  # the duration of a suite that hung says nothing: its own limit does
    return rig if rig.test_limit_s else replace(rig, test_limit_s=round(max(_TEST_LEAST_S, _TEST_FACTOR * seconds), 1))


def supplied_tests(paths: tuple[str, ...], rig: Rig, tree: str) -> list[dict[str, object]]:
    """The tests of files that the user supplied: as the runner collects them, else as their source names them."""
    run = run_tree(rig, tree, tests=paths)
    bare = [without_parameters(nodeid) for nodeid in run.outcomes]
    found = {(file_of(one), name_of(one)) for one in bare if file_of(one) in paths and name_of(one)}
    for path in paths:
        if not any(known == path for known, _ in found):
            found |= {(path, name) for name, _ in test_hashes(path, rig.git.show(tree, path) or b"")}
    return [{"path": path, "name": name, "kind": ""} for path, name in sorted(found)]


def _green(state: RunState, _draft: Json, runtime: Runtime) -> Measured:
    if profile_of(state).harness_works:
        carry_out(state, runtime)
    tree, red, base = _snapshot(runtime), state.work.facts.get("red", {}), _base(state)
    spec, inspected = state.work.artifacts.get("spec", {}), must_be_inert(state)
    ended = (*_ended(state), *_removed_in_red(state, runtime))
    promise = Promise(
        red=red,
        baseline=evidence_of(state, runtime, "baseline"),
        scope=(*product_scope(spec), *suite_files(state), *ended, *_written_by_added(state, runtime, tree)),
        removed=ended,
        superseded=superseded(state),
        gone=gone_names(spec),
        vanished=vanished_names(spec, words_of_people(state)),
        symbols=symbols_of(product_symbols(spec)),
        told=words_of_people(state),
        inspected=inspected,
    )
    trees = {"base_tree": base, "red_tree": state.work.trees.get("red", base), "tree": tree}
    first = looked_at_first(state)
    facts, evidence = measure_green(bounded_rig(state, runtime), promise, **trees, only=first) if first else ({}, {})
    if facts.get("regressions"):  # enough to refuse the attempt: the whole suite is run for a tree that may pass
        facts["only"] = "the new tests and those that run what was changed"
    else:
        facts, evidence = measure_green(bounded_rig(state, runtime), promise, **trees)
    changes = [
        {"path": item.path, "status": item.status, "added": item.added or 0, "removed": item.removed or 0}
        for item in runtime.git.changed(base, tree)
    ]
    facts |= check_facts(state, runtime, tree=tree)
    with underway("runs the checks on what was changed"):
        conformance = compared(state, runtime, tree=tree, settled=_mapping(red.get("frozen_files"))).facts()
    own = _own_files(state, runtime, tree=tree)
    unmet = early.symbols_unmet(spec, tree, runtime)
    passing = bool(facts["all_tests_pass"] and facts["no_regressions"])
    edits = honest_edits(runtime.rig(), promise, base_tree=base, red_tree=state.work.trees.get("red", base), tree=tree)
    facts["out_of_scope"] = [*texts(facts["out_of_scope"]), *out_of_scope(state, runtime, tree=tree, passing=passing)]
    with underway("tries the examples outside of the tests"):
        facts |= outside_facts(state, runtime, tree=tree, edits=edits, passing=passing, seed=promise.seed)
    facts["deceptions"] = deceptions(state, runtime, tree=tree)
    facts |= {"changes": changes, "conformance": conformance, "test_files": own, "tree": tree, "symbols_unmet": unmet}
    facts |= unmet_facts(state, runtime, facts)
    found, road = road_facts(state, runtime, facts, tree=tree, own=own)
    facts |= {**road, **speed_facts(state, runtime, facts, tree=tree)}
    if inspected:
        told = inert_facts(found)
        facts |= {**told, "belongs_to": [*items(facts["belongs_to"]), *items(told.get("belongs_to"))]}
        return Measured(facts={**facts, **unneeded("no test is asked for")}, evidence=evidence, tree=tree)
    strong, shown = strength(state, runtime, facts, tree=tree)
    facts |= {**strong, "belongs_to": [*items(facts["belongs_to"]), *items(strong.get("belongs_to"))]}
    refits = refit_facts(state, runtime, facts, tree=tree, edits=edits)
    facts |= {**refits, "belongs_to": [*items(facts["belongs_to"]), *items(refits["belongs_to"])]}
    if passing:
        with underway("repeats known calls under other circumstances"):
            facts |= repeated_facts(state, runtime, facts, tree=tree, recorded=items(shown.pop("calls", ())))
    return Measured(facts=facts, evidence={**evidence, **shown}, tree=tree)


def _own_files(state: RunState, runtime: Runtime, *, tree: str) -> list[str]:
    """The changed files that are tests, and the product files of which nothing but the tests inside was changed."""
    read, base = runtime.rig().read, _base(state)
    frozen = FrozenTests(files=cast("Mapping[str, str]", _mapping(state.work.facts.get("red", {}).get("frozen_files"))))
    changed = (one.path for one in runtime.git.changed(base, tree))
    inside = (path for path in changed if only_tests_changed(path, before=read(base), after=read(tree)))
    return list(dict.fromkeys([*frozen.whole, *suite_files(state), *inside]))


def _refactor(state: RunState, _draft: Json, runtime: Runtime) -> Measured:
    return _measured_again(state, runtime, changed="refactored")


def _without_row(state: RunState, stage: Stage, runtime: Runtime) -> Measured:
    """What is measured of any other stage: nothing where it only reads, everything where it may have written."""
    return Measured(facts={}) if stage.writes == "none" else _measured_again(state, runtime, changed="changed")


def _measured_again(state: RunState, runtime: Runtime, *, changed: str) -> Measured:
    """The whole verification on the tree as it stands now, and under `changed` what is new since it was last measured."""
    last = last_measured(state)
    before, tree = state.work.trees.get(last, ""), _snapshot(runtime)
    if tree == before:  # nothing was changed: what was measured holds for the very same tree
        return Measured(facts={**_without_changes(state.work.facts[last]), changed: []}, tree=tree)
    measured = _green(state, {}, runtime)
    rows = [
        {"path": item.path, "added": item.added or 0, "removed": item.removed or 0}
        for item in runtime.git.changed(before, tree)
    ]
    return replace(measured, facts={**measured.facts, changed: rows})


def _without_changes(facts: Json) -> dict[str, object]:
    return {name: value for name, value in facts.items() if name not in ("changed", "refactored")}


def _written_by_added(state: RunState, runtime: Runtime, tree: str) -> tuple[str, ...]:
    if not state.brief.added or state.progress.stage == FIRST_WRITER:
        return ()

    return paths_written(state, runtime, tree=tree)


def _deliver(state: RunState, _draft: Json, runtime: Runtime) -> Measured:
    made = make_commit(state, runtime)
    tree = str(made["tree"])
    lines = early.changed_lines(runtime.git.diff(_base(state), tree))
    inside = {path: lines_of_tests(path, runtime.git.show(tree, path) or b"") for path in lines if may_hold_tests(path)}
    lines |= {path: ranges_of(bits_of(lines[path]) & ~tests) for path, tests in inside.items()}
    told = {path: ranges for path, ranges in lines.items() if ranges}
    return Measured(facts={**made, "changed_lines": told}, tree=tree)


_MEASURES: dict[str, Callable[[RunState, Json, Runtime], Measured]] = {
    "intake_record": _intake,
    "clarification": _clarify,
    "analysis": _analyze,
    "specification": _spec,
    "test_suite": _red,
    "implementation": _green,
    "deliverable": _refactor,
    "delivery_report": _deliver,
    **FIX_MEASURES,
    "fix_report": _deliver,
    "plan": lambda state, draft, _runtime: measure_plan(state, draft),
}


def _ended(state: RunState) -> tuple[str, ...]:
    """Test files that go as a whole with what they speak of; only the tree itself ends them."""
    if not profile_of(state).harness_works:
        return ()

    change = by_tree(state)
    return change.ended_files if change is not None else ()


def _removed_in_red(state: RunState, runtime: Runtime) -> tuple[str, ...]:
    """Test files of the base that the tree of the accepted suite does not have any more."""
    changes = runtime.git.changed(_base(state), state.work.trees.get("red", _base(state)))
    return tuple(one.path for one in changes if one.status == "deleted" and is_test_path(one.path))


def _base(state: RunState) -> str:
    return state.work.trees["baseline"]


def _snapshot(runtime: Runtime) -> str:
    """What git finds when it looks at every file; what the guard was told of is recorded before, whatever its times say."""
    runtime.guard.known()
    return runtime.git.snapshot(runtime.worktree, index=runtime.scratch / "index")


def _put_given(state: RunState, runtime: Runtime) -> bool:
    """Write the user's tests, or those rendered from the user's examples, into the workspace; tells whether there are any."""
    files = dict(runtime.supplied)
    if profile_of(state).harness_works:
        return put_tests(state, runtime)
    files |= {path: (runtime.worktree / path).read_bytes() for path, _ in ruled_tests(state)}
    for path, content in files.items():
        target = runtime.worktree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(amended(path, content, state))
    return bool(files)


def _written(state: RunState, draft: Json) -> list[str]:
    return list(
        dict.fromkeys([*state.brief.tests, *(str(item.get("path", "")) for item in items(draft.get("test_files")))])
    )


def _source(runtime: Runtime, tree: str, path: str) -> str:
    """The text of tests: a whole file, of a product file what of it is tests."""
    data = runtime.git.show(tree, path) or b"" if path else b""
    return (inner_tests(path, data) if may_hold_tests(path) else data).decode("utf-8", "replace")


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}
