"""RED's facts: the new tests fail at the base for the right reason, and no wrong implementation satisfies them."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentforge.languages.catalogue import of_runner
from agentforge.languages.stub_values import Source
from agentforge.languages.symbols import Symbol, exists, symbols_of
from agentforge.languages.test_parts import may_hold_tests, only_tests_changed
from agentforge.suite import Edits, Rig, controls, run_tree, sound
from agentforge.testing.outcome import SuiteRun, file_of, run_value, without_parameters
from agentforge.testing.report_stream import repeated
from agentforge.verification.counterexamples.patience import Patience
from agentforge.verification.counterexamples.stub_runs import (
    StubRuns,
    near_tests,
    noticed_by_others,
    noticed_by_targets,
    run_stubs,
    spoiling_runs,
    stub_control,
    stub_controls,
    stub_note,
    surviving,
    variants,
)
from agentforge.verification.source.moved_tests import moved_tests
from agentforge.verification.source.test_hashes import duplicates, freeze
from agentforge.verification.stages.classification import ENDLESS, Expectation
from agentforge.verification.stages.endings import early_end, imports_of_gone, tests_using
from agentforge.verification.stages.existing_tests import Altered, altered_tests
from agentforge.verification.stages.known_tests import known_before
from agentforge.verification.stages.red_suite import GUARDING, Suite, declared, is_tests_own, kind_of
from agentforge.verification.stages.red_tests import broken_files, entries_of, refuse_unreached, unmask
from agentforge.verification.stages.test_imports import importing_tests, names_to_come
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import language_of, outline_of
from agentforge.workspace.git.repository import Read

_INNER = ("if_reached", "absent")


def measure_red(
    rig: Rig, suite: Suite, *, base_tree: str, red_tree: str, with_stubs: bool = True
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run the new tests at the base (plus test files) and against wrong implementations.

    Args:
        red_tree: the base tree with RED's test files.
        with_stubs: False skips the stub controls; `controls.stubs` then says so.
    Returns:
        facts {tests: [{id, kind, outcome, right_reason, reason}], all_tests_fail, guards_pass, right_reason,
        no_implementation_exists, declared_missing, undeclared, turned_guard, stub_survivors, stubs_noticed, stubs_run,
        only_imports, collection_errors, duplicates, existing_changed, product_changed, already_there, frozen,
        frozen_files, controls, ended_early (see `early_end`), problems, duration_s}, and evidence {run, stubs}.
    """
    symbols = symbols_of(suite.symbols)
    changed = [change.path for change in rig.git.changed(base_tree, red_tree)]
    if not suite.tests:
        return _nothing_to_run(rig, suite, symbols, changed, base_tree=base_tree), {}
    expected = _expectation(rig, suite, symbols, base_tree=base_tree, red_tree=red_tree)
    own = _own(changed, suite, before=rig.read(base_tree), after=rig.read(red_tree))
    altered = _altered(rig, base_tree, red_tree, changed, suite)
    suite = replace(suite, extended=altered.extended)
    run = _heard(rig, red_tree, run_tree(rig, red_tree, tests=suite.files))
    made = variants(symbols, source=_texts(rig, red_tree), seed=red_tree) if with_stubs else ()
    patience = Patience.after(rig, run)
    stubs = run_stubs(patience, red_tree, suite.files, made[:1])
    known = known_before(rig, base_tree, red_tree, suite, run)
    raising = _without(stubs.runs["raises"], known) if "raises" in stubs.runs else None
    heard = [one for one in _names(rig, red_tree, suite, raising, broken_files([run], expected)) if one not in known]
    entries = entries_of(_without(run, known), heard, suite, expected, read=rig.read(red_tree))
    refuse_unreached(entries, rig, red_tree, suite)
    broken = _stranded(rig, red_tree, suite, symbols) + broken_files([run, *stubs.runs.values()], expected)
    worth = _worth_stubs(entries)
    if worth:
        stubs = stubs.joined(run_stubs(patience, red_tree, _stubbed(rig, suite, entries), made[1:]))
    unmask(entries, [(one, stubs.runs[one.name]) for one in stubs.made], expected)
    living = surviving(stubs.runs, stubs.made, _new_targets(entries, rig, base_tree, red_tree))
    importing = frozenset(importing_tests(suite.files, read=rig.read(red_tree), symbols=symbols, told=suite.told))
    seen = _Seen(entries=entries, stubs=stubs, plain=run, importing=importing)
    noticed = _noticed(living, patience, red_tree, suite, symbols, seen)
    control = stub_control(stubs, patience.rig, base_tree=base_tree, files=suite.files) if worth else "not needed"
    facts = {
        "tests": [{key: value for key, value in entry.items() if key not in _INNER} for entry in entries],
        **_verdicts(entries, broken, run, rig, suite),
        "controls": {**controls(run, rig.plan), **stub_controls(stubs, control)},
        "undeclared": [entry["id"] for entry in entries if not declared(entry["id"], suite)],
        "turned_guard": _turned(entries, suite),
        "stub_survivors": [{"stub": stub, "id": nodeid} for stub, nodeid in living if (stub, nodeid) not in noticed],
        "stubs_noticed": [{"stub": stub, "id": nodeid} for stub, nodeid in living if (stub, nodeid) in noticed],
        "stubs_run": len(stubs.runs),
        "only_imports": sorted({name for _, one in noticed if (name := without_parameters(one)) in importing}),
        "collection_errors": broken,
        "existing_changed": [{"id": nodeid, "text": text} for nodeid, text in altered.lost],
        "duplicates": _duplicates(rig, suite, run, known, base_tree=base_tree, red_tree=red_tree),
        **_product(rig, base_tree, symbols, [path for path in changed if path not in own]),
        **_frozen(rig, red_tree, [*own, *suite.files], whole=suite.support),
        **_ending(rig, run, _missing(entries, suite)),
        "stub_note": stub_note(stubs, rig, with_stubs=with_stubs),
    }
    return facts, {"run": run_value(run), "stubs": {name: list(one.passed_ids) for name, one in stubs.runs.items()}}


def _nothing_to_run(
    rig: Rig, suite: Suite, symbols: Sequence[Symbol], changed: Sequence[str], *, base_tree: str
) -> dict[str, Any]:
    """The facts of a suite without a test: no test was run, so nothing is shown; that is enough only where none is needed."""
    nothing = (
        *(
            "tests",
            "declared_missing",
            "undeclared",
            "turned_guard",
            "stub_survivors",
            "stubs_noticed",
            "collection_errors",
        ),
        *("existing_changed", "duplicates", "problems"),
    )
    return {
        **{name: [] for name in nothing},
        "all_tests_fail": suite.inspected,
        "guards_pass": True,
        "right_reason": suite.inspected,
        "controls": {"held": True, "stubs": "not needed"},
        "stubs_run": 0,
        "stub_note": "the suite holds no test",
        **_product(rig, base_tree, symbols, changed),
        "frozen": {},
        "frozen_files": {},
        "duration_s": 0.0,
    }


def _stubbed(rig: Rig, suite: Suite, entries: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What runs against the stubs: the targets alone, where the runner runs single tests; a file may hold many others."""
    targets = dict.fromkeys(without_parameters(str(one["id"])) for one in entries if one["kind"] == "target")
    return tuple(targets) if rig.plan.runner in ("pytest", "unittest") else suite.files


def _altered(rig: Rig, base_tree: str, red_tree: str, changed: Sequence[str], suite: Suite) -> Altered:
    """What became of the base's tests; files that the user supplied are the user's."""
    touched = [path for path in changed if is_test_path(path) and path not in suite.support]
    suite = replace(
        suite, superseded=(*suite.superseded, *tests_using(touched, suite.vanished, read=rig.read(base_tree)))
    )
    return altered_tests(touched, before=rig.read(base_tree), after=rig.read(red_tree), superseded=suite.superseded)


def _stranded(rig: Rig, red_tree: str, suite: Suite, symbols: Sequence[Symbol]) -> list[dict[str, Any]]:
    """Test files that import what will be gone: they can be loaded today, and no longer when the change is there."""
    moved = {one.last for one in symbols if one.change == "new"}  # it may still be imported from where it was
    gone = [one for one in symbols if one.change == "removed" and one.last not in moved]
    paths = [path for path in rig.git.list_files(red_tree) if is_test_path(path)] if gone else []
    return [
        {
            "id": path, "right_reason": False,
            "reason": f"imports {name}, which the specification removes: it cannot be loaded after the change. Take out "
            "the import and the tests that need it",
        }
        for path, name in imports_of_gone(paths, gone, read=rig.read(red_tree))
    ]  # fmt: skip


def _ending(rig: Rig, run: SuiteRun, missing: Sequence[str]) -> dict[str, Any]:
    """How the run ended: what has no result, its problems and duration, and the limit of one test, where it stopped a test."""
    stopped = any(one.failure and one.failure.exc_type == ENDLESS for one in run.outcomes.values())
    limit = {"test_limit_s": rig.test_limit_s} if stopped else {}
    heard = {"declared_missing": list(missing), **early_end([run], missing, at="base")}
    return {**limit, **heard, "problems": list(run.problems), "duration_s": run.duration_s}


def _frozen(rig: Rig, red_tree: str, paths: Sequence[str], *, whole: Sequence[str]) -> dict[str, dict[str, str]]:
    frozen = freeze(paths, read=rig.read(red_tree), whole=whole)
    return {"frozen": dict(frozen.tests), "frozen_files": dict(frozen.files)}


def _heard(rig: Rig, red_tree: str, run: SuiteRun) -> SuiteRun:
    """Hear the files that do not compile only because of their neighbours in one package: without these they run."""
    guilty = {one.id for one in run.collection_errors if one.failure is not None and one.failure.file == one.id}
    innocent = sorted({one.id for one in run.collection_errors} - guilty)
    language = of_runner(rig.plan.runner)
    if language is None or not language.keeps_neighbours or not innocent or not guilty:
        return run
    again = run_tree(rig, red_tree, tests=innocent, edits=Edits(files=dict.fromkeys(guilty)))
    errors = [one for one in run.collection_errors if one.id in guilty]
    ran = [one.canary for one in (run, again) if one.outcomes]  # what did not compile has run no canary either
    return replace(
        again,
        canary=next((one for one in ran if one != "held"), "held") if ran else again.canary,
        outcomes={**run.outcomes, **again.outcomes},
        collected=(*run.collected, *again.collected),
        collection_errors=(*errors, *again.collection_errors),
        complete=run.complete and again.complete,
        early_end=run.early_end or again.early_end,
        problems=(*run.problems, *again.problems),
    )


def _duplicates(
    rig: Rig, suite: Suite, run: SuiteRun, known: Collection[str], *, base_tree: str, red_tree: str
) -> list[str]:
    """Names that stand twice, in the source or in the session; a name that the base has twice is the base's business."""
    old, new = (
        {one for path in suite.files for one in duplicates(path, rig.git.show(tree, path) or b"")}
        for tree in (base_tree, red_tree)
    )
    own = [one for one in repeated(run.collected) if declared(one, suite) is not None]
    seen = [one for one in own if without_parameters(one) not in {*known, *old}]
    return list(dict.fromkeys([*sorted(new - old), *seen]))


def _expectation(rig: Rig, suite: Suite, symbols: Sequence[Symbol], *, base_tree: str, red_tree: str) -> Expectation:
    touched = dict.fromkeys([*suite.modified, *(symbol.file for symbol in symbols)])
    outlines = [
        outline_of(path, data.decode("utf-8", "replace"))
        for path in touched
        if language_of(path) and (data := rig.git.show(base_tree, path)) is not None
    ]
    return Expectation(
        symbols=tuple(symbols),
        modified=frozenset(suite.modified),
        test_files=frozenset(suite.files),
        present=rig.git.list_files(base_tree),
        defined=frozenset(symbol.name for outline in outlines for symbol in outline.symbols),
        language=rig.plan.language,
        to_come=names_to_come(rig, red_tree, suite.files, symbols=symbols, changing=suite.modified),
    )


def _new_targets(entries: Sequence[Mapping[str, Any]], rig: Rig, base_tree: str, red_tree: str) -> list[str]:
    """The ids of targets that did not just get another path: what an existing test shows is its own business."""
    moved = {*moved_tests(rig, base_tree, red_tree).values()}
    ids = [str(entry["id"]) for entry in entries if entry["kind"] == "target"]
    return [one for one in ids if without_parameters(one) not in moved]


def _own(changed: Sequence[str], suite: Suite, *, before: Read, after: Read) -> list[str]:
    """The files of tests, and product files of which nothing but the tests inside was changed."""
    return [
        path
        for path in changed
        if only_tests_changed(path, before=before, after=after)
        or (is_tests_own(path, suite) and (path in suite.support or not may_hold_tests(path)))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What RED's runs came to: the tests, those that only import, the stubs with their runs, and the run without a stub."""

    entries: Sequence[Mapping[str, Any]]
    stubs: StubRuns
    plain: SuiteRun
    importing: frozenset[str]


def _noticed(
    living: Sequence[tuple[str, str]],
    patience: Patience,
    red_tree: str,
    suite: Suite,
    symbols: Sequence[Symbol],
    seen: _Seen,
) -> frozenset[tuple[str, str]]:
    """The surviving (stub, target) pairs that prove no weakness: another target refuses the stub, or the target fails by what the
    base does, and the suite as a whole refuses the stub. `assert f("") is None` is a whole test where others say more."""
    by_targets = noticed_by_targets(living, seen.entries, runs=seen.stubs.runs, importing=seen.importing)
    if set(living) - by_targets:  # a test may look at nothing but what it gives
        source = _texts(patience.rig, red_tree)
        spoiled = spoiling_runs(patience, red_tree, suite.files, symbols, source=source, seed=red_tree)
        runs = {**seen.stubs.runs, **spoiled}
        by_targets = noticed_by_targets(living, seen.entries, runs=runs, importing=seen.importing)
    absent = {str(entry["id"]) for entry in seen.entries if entry["kind"] != "target" or entry["absent"]}
    pairs = [pair for pair in living if pair[1] not in absent]
    if not pairs:
        return by_targets
    targets = {str(entry["id"]) for entry in seen.entries if entry["kind"] == "target"}
    beside = (
        () if _stubbed(patience.rig, suite, seen.entries) == suite.files else suite.files
    )  # whose guards met no stub yet
    product = [path for one in seen.stubs.made for path in one.files]
    near = near_tests(patience.rig, red_tree, product, apart=suite.files)
    stubs = noticed_by_others(
        patience.rig, red_tree, pairs, made={one.name: one for one in seen.stubs.made}, runs=seen.stubs.runs,
        passing=frozenset(set(seen.plain.passed_ids) - targets), files=(*beside, *near),
    )  # fmt: skip
    return by_targets | frozenset(pair for pair in pairs if pair[0] in stubs)


def _verdicts(
    entries: Sequence[Mapping[str, Any]], broken: Sequence[Mapping[str, Any]], run: SuiteRun, rig: Rig, suite: Suite
) -> dict[str, bool]:
    """The booleans; each is False when the controls of the run did not hold."""
    targets = [entry for entry in entries if entry["kind"] == "target"]
    guards = [entry for entry in entries if entry["kind"] == "guard" and entry["outcome"] != "skipped"]
    held = sound(run, rig.plan)
    enough = bool(targets) or suite.inspected or (suite.action in GUARDING and bool(guards))
    return {
        "all_tests_fail": held and enough and all(one["outcome"] in ("failed", "error") for one in targets),
        "guards_pass": held and all(one["outcome"] == "passed" for one in guards),
        "right_reason": held and enough and all(one["right_reason"] for one in (*entries, *broken)),
    }


def _without(run: SuiteRun, known: frozenset[str]) -> SuiteRun:
    left = {nodeid: one for nodeid, one in run.outcomes.items() if without_parameters(nodeid) not in known}
    return replace(
        run, outcomes=left, collected=tuple(one for one in run.collected if without_parameters(one) not in known)
    )


def _names(
    rig: Rig, red_tree: str, suite: Suite, raising: SuiteRun | None, broken: Sequence[Mapping[str, Any]]
) -> tuple[str, ...]:
    """The ids of tests in files that cannot be loaded yet: by the raising stub's run, else by their source.

    Args:
        broken: those files; in Python the source speaks only for one that lacks nothing but what was declared.
    """
    heard = raising.collected if raising is not None else ()
    files = {file_of(one) for one in heard}
    files |= {str(one["id"]) for one in broken if not one["right_reason"] and rig.plan.language == "python"}
    return (*heard, *freeze([one for one in suite.files if one not in files], read=rig.read(red_tree)).tests)


def _missing(entries: Sequence[Mapping[str, Any]], suite: Suite) -> list[str]:
    """Declared tests that were not collected."""
    found = [declared(str(entry["id"]), suite) for entry in entries]
    return [f"{test['path']}::{test['name']}" for test in suite.tests if not any(test is one for one in found)]


def _product(rig: Rig, base_tree: str, symbols: Sequence[Symbol], changed: Sequence[str]) -> dict[str, Any]:
    """What of the product RED changed, and what of the declared symbols is there before GREEN."""
    there = _already_there(rig, base_tree, symbols)
    return {
        "product_changed": list(changed),
        "already_there": there,
        "no_implementation_exists": not changed and not there,
    }


def _turned(entries: Sequence[Mapping[str, Any]], suite: Suite) -> list[str]:
    """Tests that were declared as targets and pass at the base; rows of a test with failing ones are not told."""
    targets = {without_parameters(str(entry["id"])) for entry in entries if entry["kind"] == "target"}
    passing = [str(entry["id"]) for entry in entries if entry["kind"] == "guard" and entry["outcome"] == "passed"]
    turned = [one for one in passing if kind_of(one, suite) == "target" and suite.action not in GUARDING]
    return [one for one in turned if without_parameters(one) not in {*targets, *suite.extended}]


def _already_there(rig: Rig, base_tree: str, symbols: Iterable[Symbol]) -> list[str]:
    """Symbols that are declared as new and exist at the base."""
    return [one.name for one in symbols if one.change == "new" and exists(one, rig.git.show(base_tree, one.file))]


def _texts(rig: Rig, tree: str) -> Source:
    def text(path: str) -> str | None:
        if path.endswith("/"):
            return "\n".join(one for one in rig.git.list_files(tree) if posixpath.dirname(one) == path[:-1]) or None
        data = rig.git.show(tree, path)
        return None if data is None else data.decode("utf-8", "replace")

    return text


def _worth_stubs(entries: Sequence[Mapping[str, Any]]) -> bool:
    """A suite that is rejected anyway, or that only guards, need not face the other stubs."""
    targets = [entry for entry in entries if entry["kind"] == "target"]
    return bool(targets) and all(entry["right_reason"] for entry in targets)
