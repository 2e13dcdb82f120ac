"""RED's facts: the new tests fail at the base for the right reason, and no wrong implementation satisfies them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from agentforge.runners.classify import ENDLESS, Expectation, Reason, classify, classify_failure, is_mistake
from agentforge.runners.existing import Altered, altered_tests
from agentforge.runners.freeze import duplicates, freeze
from agentforge.runners.gathered import repeated
from agentforge.runners.identity import file_of, means, without_parameters
from agentforge.runners.outcome import CollectionError, Failure, SuiteRun, TestOutcome, run_value
from agentforge.runners.rig import Edits, Rig, controls, run_tree, sound
from agentforge.runners.stub_runs import impatient, run_stubs, stub_note, stubs_held, surviving, taken
from agentforge.runners.stub_variant import Variant
from agentforge.runners.stubs import variants
from agentforge.runners.symbols import Symbol, exists, symbols_of
from agentforge.runners.vacuity import vacuous_tests
from agentforge.workspace.relevance import is_test_path

_GUARDING = ("refactor", "delete", "analyze")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What RED's artifact and the specification say.

    Attributes:
        tests: {path, name, kind} of each declared test; `name` is the function, `Class::function` or the whole id.
        symbols: the specification's declared symbols.
        modified: existing product files that the specification will change.
        action: create, modify, delete, refactor, fix or analyze.
        support: further paths that RED may write (data files, conftest.py).
        superseded: existing tests (`path::name`) that the specification lists as changed or removed.
        extended: existing parametrised tests that only got more rows; measured.
    """

    tests: Sequence[Mapping[str, Any]]
    symbols: Sequence[Mapping[str, Any]] = ()
    modified: Sequence[str] = ()
    action: str = "create"
    support: Sequence[str] = ()
    superseded: Sequence[str] = ()
    extended: frozenset[str] = frozenset()

    @property
    def files(self) -> tuple[str, ...]:
        """The declared test files, each once."""
        return tuple(dict.fromkeys(str(test["path"]) for test in self.tests))


def measure_red(
    rig: Rig, suite: Suite, *, base_tree: str, red_tree: str, with_stubs: bool = True
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run the new tests at the base (plus test files) and against wrong implementations.

    Args:
        red_tree: the base tree with RED's test files.
        with_stubs: False skips the stub controls; `controls.stubs` then says so.
    Returns:
        facts {tests: [{id, kind, outcome, right_reason, reason}], all_tests_fail, guards_pass, right_reason,
        no_implementation_exists, declared_missing, undeclared, stub_survivors, stubs_run, collection_errors, duplicates,
        existing_changed, vacuous, product_changed, already_there, frozen, frozen_files, controls, problems, duration_s},
        and evidence {run, stubs}.
    """
    symbols = symbols_of(suite.symbols)
    expected = Expectation(
        symbols=symbols, action=suite.action, modified=frozenset(suite.modified), test_files=frozenset(suite.files)
    )
    changed = [change.path for change in rig.git.changed(base_tree, red_tree)]
    own = [path for path in changed if _is_tests_own(path, suite)]
    altered = _altered(rig, base_tree, red_tree, changed, suite)
    suite = replace(suite, extended=altered.extended)
    run = _heard(rig, red_tree, run_tree(rig, red_tree, tests=suite.files))
    made = variants(symbols, source=_texts(rig, red_tree)) if with_stubs else ()
    patience = impatient(rig, run)
    stub_runs = run_stubs(patience, red_tree, suite.files, made[:1])
    known = _known_before(rig, base_tree, red_tree, suite)
    raising = _without(stub_runs["raises"], known) if "raises" in stub_runs else None
    named = _names(rig, red_tree, suite, raising)
    entries = _entries(_without(run, known), [one for one in named if one not in known], suite, expected)
    broken = _broken([run, *stub_runs.values()], expected)
    worth = _worth_stubs(entries)
    if worth:
        stub_runs |= run_stubs(patience, red_tree, suite.files, made[1:])
    made = taken(made, stub_runs, rig)
    _unmask(entries, [(one, stub_runs[one.name]) for one in made if one.name in stub_runs], expected)
    living = surviving(stub_runs, made, [entry["id"] for entry in entries if entry["kind"] == "target"])
    facts = {
        "tests": entries,
        **_verdicts(entries, broken, run, rig, suite),
        "controls": {**controls(run, rig.plan), "stubs": stubs_held(stub_runs, made, rig) if worth else "not needed"},
        "declared_missing": _missing(entries, suite),
        "undeclared": [entry["id"] for entry in entries if not _declared(entry["id"], suite)],
        "stub_survivors": [{"stub": stub, "id": nodeid} for stub, nodeid in living],
        "stubs_run": len(stub_runs),
        "collection_errors": broken,
        "existing_changed": [{"id": nodeid, "text": text} for nodeid, text in altered.lost],
        "vacuous": _vacuous(rig, red_tree, suite, entries, known),
        "duplicates": _duplicates(rig, red_tree, suite, run, known),
        "product_changed": [path for path in changed if path not in own],
        "already_there": _already_there(rig, base_tree, symbols),
        **_frozen(rig, red_tree, [*own, *suite.files]),
        **_limit(rig, run),
        "problems": list(run.problems),
        "duration_s": run.duration_s,
    }
    facts["no_implementation_exists"] = not facts["product_changed"] and not facts["already_there"]
    facts["stub_note"] = stub_note(made, rig, with_stubs=with_stubs)
    return facts, {"run": run_value(run), "stubs": {name: list(one.passed_ids) for name, one in stub_runs.items()}}


def _altered(rig: Rig, base_tree: str, red_tree: str, changed: Sequence[str], suite: Suite) -> Altered:
    """What became of the base's tests; files that the user supplied are the user's."""
    touched = [path for path in changed if is_test_path(path) and path not in suite.support]
    return altered_tests(touched, before=rig.read(base_tree), after=rig.read(red_tree), superseded=suite.superseded)


def _limit(rig: Rig, run: SuiteRun) -> dict[str, float]:
    """The time limit of one test, where a test was stopped by it."""
    stopped = any(one.failure and one.failure.exc_type == ENDLESS for one in run.outcomes.values())
    return {"test_limit_s": rig.test_limit_s} if stopped else {}


def _frozen(rig: Rig, red_tree: str, paths: Sequence[str]) -> dict[str, dict[str, str]]:
    frozen = freeze(paths, read=rig.read(red_tree))
    return {"frozen": dict(frozen.tests), "frozen_files": dict(frozen.files)}


def _vacuous(
    rig: Rig, red_tree: str, suite: Suite, entries: Sequence[Mapping[str, Any]], known: frozenset[str]
) -> list[dict[str, str]]:
    """Tests of RED's own that cannot fail; those that the user supplied are the user's."""
    names = {str(entry["id"]).partition("[")[0] for entry in entries}
    symbols = symbols_of(suite.symbols)
    units, files = {symbol.last for symbol in symbols}, {symbol.file for symbol in symbols}
    paths = [path for path in suite.files if path not in suite.support]
    found = vacuous_tests(paths, read=rig.read(red_tree), names=names, units=units, known=known, files=files)
    return [{"id": nodeid, "text": why} for nodeid, why in found]


def _heard(rig: Rig, red_tree: str, run: SuiteRun) -> SuiteRun:
    """Hear the files that do not compile only because of their neighbours in one package: without these they run."""
    guilty = {one.id for one in run.collection_errors if one.failure is not None and one.failure.file == one.id}
    innocent = sorted({one.id for one in run.collection_errors} - guilty)
    if rig.plan.runner not in ("go", "java") or not innocent or not guilty:
        return run
    again = run_tree(rig, red_tree, tests=innocent, edits=Edits(files=dict.fromkeys(guilty)))
    errors = [one for one in run.collection_errors if one.id in guilty]
    return replace(
        again,
        outcomes={**run.outcomes, **again.outcomes},
        collected=(*run.collected, *again.collected),
        collection_errors=(*errors, *again.collection_errors),
        complete=run.complete and again.complete,
        problems=(*run.problems, *again.problems),
    )


def _duplicates(rig: Rig, red_tree: str, suite: Suite, run: SuiteRun, known: Collection[str]) -> list[str]:
    """Names that stand twice, in the source or in the session."""
    found = [one for path in suite.files for one in duplicates(path, rig.git.show(red_tree, path) or b"")]
    return list(
        dict.fromkeys([*found, *(one for one in repeated(run.collected) if without_parameters(one) not in known)])
    )


def _verdicts(
    entries: Sequence[Mapping[str, Any]], broken: Sequence[Mapping[str, Any]], run: SuiteRun, rig: Rig, suite: Suite
) -> dict[str, bool]:
    """The booleans; each is False when the controls of the run did not hold."""
    targets = [entry for entry in entries if entry["kind"] == "target"]
    guards = [entry for entry in entries if entry["kind"] == "guard"]
    held = sound(run, rig.plan)
    enough = bool(targets) or (suite.action in _GUARDING and bool(guards))
    return {
        "all_tests_fail": held and enough and all(one["outcome"] in ("failed", "error") for one in targets),
        "guards_pass": held and all(one["outcome"] == "passed" for one in guards),
        "right_reason": held and enough and all(one["right_reason"] for one in (*entries, *broken)),
    }


def _known_before(rig: Rig, base_tree: str, red_tree: str, suite: Suite) -> frozenset[str]:
    """Tests of the declared files that stand unchanged at the base and are not declared: the base line speaks of them."""
    before = freeze(suite.files, read=rig.read(base_tree)).tests
    after = freeze(suite.files, read=rig.read(red_tree)).tests
    return frozenset(
        name for name, digest in before.items() if after.get(name) == digest and _declared(name, suite) is None
    )


def _without(run: SuiteRun, known: frozenset[str]) -> SuiteRun:
    left = {nodeid: one for nodeid, one in run.outcomes.items() if without_parameters(nodeid) not in known}
    return replace(
        run, outcomes=left, collected=tuple(one for one in run.collected if without_parameters(one) not in known)
    )


def _entries(run: SuiteRun, named: Sequence[str], suite: Suite, expected: Expectation) -> list[dict[str, Any]]:
    """One entry for each test.

    Args:
        named: tests of files that cannot be imported yet, by the raising stub's run or, without one, by their source.
    """
    entries = [_entry(outcome, suite, expected) for outcome in run.outcomes.values()]
    seen = set(run.outcomes)
    for error in _worst_first(run.collection_errors, expected):
        reason = _file_reason(error.failure, expected)
        for nodeid in named:
            if nodeid not in seen and file_of(nodeid) == error.id:
                seen.add(nodeid)
                kind = _kind(nodeid, suite) or "target"
                entries.append(_named(nodeid, kind, "error", reason if kind == "target" else _lost_guard()))
    return sorted(entries, key=lambda entry: str(entry["id"]))


def _names(rig: Rig, red_tree: str, suite: Suite, raising: SuiteRun | None) -> tuple[str, ...]:
    """The ids of tests in files that cannot be loaded yet: by the raising stub's run, else by their source."""
    heard = raising.collected if raising is not None else ()
    if raising is not None and rig.plan.language == "python":
        return heard
    files = {file_of(one) for one in heard}
    return (*heard, *freeze([one for one in suite.files if one not in files], read=rig.read(red_tree)).tests)


def _worst_first(errors: Sequence[CollectionError], expected: Expectation) -> list[CollectionError]:
    """A compiler tells several errors of one file: one that is no right reason speaks for all of them."""
    return sorted(errors, key=lambda error: _file_reason(error.failure, expected).right)


def _entry(outcome: TestOutcome, suite: Suite, expected: Expectation) -> dict[str, Any]:
    kind = _kind(outcome.id, suite)
    if outcome.passed and kind != "target":
        return _named(outcome.id, "guard", "passed", Reason(right=True, text="passes at the base, as a guard must"))
    if outcome.passed and outcome.id.partition("[")[0] in suite.extended and not _names_row(outcome.id, suite):
        return _named(outcome.id, "guard", "passed", Reason(right=True, text="a row that the base has"))
    if outcome.passed and suite.action in _GUARDING:
        return _named(outcome.id, "guard", "passed", Reason(right=True, text=f"guards what a {suite.action} must keep"))
    if kind == "guard":
        text = outcome.failure.message if outcome.failure else ""
        reason = Reason(
            right=False, text=f"is a guard and must pass at the base, but is {outcome.outcome}: {text[:200]}"
        )
        return _named(outcome.id, "guard", outcome.outcome, reason)
    return _named(outcome.id, "target", outcome.outcome, classify(outcome, expected))


def _named(nodeid: str, kind: str, outcome: str, reason: Reason) -> dict[str, Any]:
    return {"id": nodeid, "kind": kind, "outcome": outcome, "right_reason": reason.right, "reason": reason.text}


def _unmask(entries: Sequence[dict[str, Any]], runs: Sequence[tuple[Variant, SuiteRun]], expected: Expectation) -> None:
    """Refuse targets whose own mistakes the missing symbol hid: a stub that exists lets the test run into them.

    Args:
        runs: of every stub; mistakes are looked for only where no honest target passes.
    Side effects: changes the entries.
    """
    stub_runs = [run for stub, run in runs if stub.hard]
    for entry in entries:
        if entry["kind"] != "target" or not entry["right_reason"]:
            continue
        path = file_of(str(entry["id"]))
        ways = {run.outcomes[str(entry["id"])].outcome for _, run in runs if str(entry["id"]) in run.outcomes}
        if ways == {"skipped"}:
            entry |= {"right_reason": False, "reason": "is skipped once the symbol is there: it would never run"}
        for run in stub_runs:
            outcome = run.outcomes.get(str(entry["id"]))
            failures = [outcome.failure] if outcome is not None else []
            failures += [error.failure for error in run.collection_errors if error.id == path]
            for failure in failures:
                if failure is not None and is_mistake(failure, expected):
                    entry |= {"right_reason": False, "reason": classify_failure(failure, expected).text}


def _lost_guard() -> Reason:
    return Reason(
        right=False,
        text="is a guard in a file that cannot be imported at the base: import the new symbol inside the targets, "
        "or give the guards a file of their own",
    )


def _file_reason(failure: Failure | None, expected: Expectation) -> Reason:
    if failure is None:
        return Reason(right=False, text="its file cannot be collected, and the runner does not say why")
    return classify_failure(failure, expected)


def _broken(runs: Sequence[SuiteRun], expected: Expectation) -> list[dict[str, Any]]:
    """Files that cannot be collected at the base, and whether that is because a declared symbol is still missing.

    Args:
        runs: the run at the base, then the one with the raising stub, in which only mistakes of the file remain.
    """
    found = []
    for error in runs[0].collection_errors:
        reason = _file_reason(error.failure, expected)
        later = [one.failure for run in runs[1:] for one in run.collection_errors if one.id == error.id]
        mistakes = [one for one in later if one is not None and is_mistake(one, expected)]
        if reason.right and mistakes:
            reason = classify_failure(mistakes[0], expected)
        found.append({"id": error.id, "right_reason": reason.right, "reason": reason.text})
    return found


def _declared(nodeid: str, suite: Suite) -> Mapping[str, Any] | None:
    """The declared test that an id belongs to: the one that names its very row, else the one of its function."""
    row = _names_row(nodeid, suite)
    if row is not None:
        return row
    return next((one for one in suite.tests if means(nodeid, path=str(one["path"]), name=str(one["name"]))), None)


def _names_row(nodeid: str, suite: Suite) -> Mapping[str, Any] | None:
    """The declared test that names this very row of a parametrised test."""
    named = (test for test in suite.tests if "[" in str(test["name"]))
    return next((one for one in named if nodeid in (str(one["name"]), f"{one['path']}::{one['name']}")), None)


def _kind(nodeid: str, suite: Suite) -> str:
    test = _declared(nodeid, suite)
    return str(test.get("kind") or "") if test is not None else ""


def _missing(entries: Sequence[Mapping[str, Any]], suite: Suite) -> list[str]:
    """Declared tests that were not collected."""
    found = [_declared(str(entry["id"]), suite) for entry in entries]
    return [f"{test['path']}::{test['name']}" for test in suite.tests if not any(test is one for one in found)]


def _is_tests_own(path: str, suite: Suite) -> bool:
    """A declared test file or support file, a conftest.py above it, or data in the folder of a test file."""
    if path in suite.files or path in suite.support:
        return True
    for file in suite.files:
        folder = PurePosixPath(file).parent
        if PurePosixPath(path).name in ("conftest.py", "__init__.py") and PurePosixPath(path).parent in (
            folder, *[one for one in folder.parents if one.name]
        ):  # fmt: skip
            return True
        if folder.name and _is_tests_folder(folder) and PurePosixPath(path).is_relative_to(folder):
            return True
    return False


def _is_tests_folder(folder: PurePosixPath) -> bool:
    return any(part in ("test", "tests", "testing", "__tests__", "spec") for part in folder.parts)


def _already_there(rig: Rig, base_tree: str, symbols: Iterable[Symbol]) -> list[str]:
    """Symbols that are declared as new and exist at the base."""
    return [one.name for one in symbols if one.change == "new" and exists(one, rig.git.show(base_tree, one.file))]


def _texts(rig: Rig, tree: str) -> Any:
    def text(path: str) -> str | None:
        data = rig.git.show(tree, path)
        return None if data is None else data.decode("utf-8", "replace")

    return text


def _worth_stubs(entries: Sequence[Mapping[str, Any]]) -> bool:
    """A suite that is rejected anyway, or that only guards, need not face the other stubs."""
    targets = [entry for entry in entries if entry["kind"] == "target"]
    return bool(targets) and all(entry["right_reason"] for entry in targets)
