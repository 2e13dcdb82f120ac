"""Each test of RED at the base: target or guard, what became of it, and whether it fails for the right reason."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from agentforge.languages.stub_values import Variant
from agentforge.suite import Rig, run_tree
from agentforge.testing.coverage import traced_of
from agentforge.testing.outcome import CollectionError, Failure, SuiteRun, TestOutcome, file_of, without_parameters
from agentforge.verification.stages.classification import (
    Expectation,
    Reason,
    classify,
    classify_failure,
    masked_mistake,
    unreached,
)
from agentforge.verification.stages.endings import tests_using
from agentforge.verification.stages.red_suite import Suite, kind_of
from agentforge.workspace.git.repository import Read


def entries_of(
    run: SuiteRun, named: Sequence[str], suite: Suite, expected: Expectation, *, read: Read
) -> list[dict[str, Any]]:
    """One entry for each test; which kind it is, is measured: what passes at the base guards, whatever was declared.

    Args:
        named: tests of files that cannot be imported yet, by the raising stub's run or, without one, by their source.
        read: the text of a test file.
    """
    missing = {one.last for one in expected.symbols if one.change == "new"}
    using = frozenset(tests_using(suite.files, missing, read=read))
    running = {without_parameters(nodeid) for nodeid, one in run.outcomes.items() if one.outcome != "skipped"}
    entries = [_entry(outcome, suite, expected, running=running, using=using) for outcome in run.outcomes.values()]
    seen = set(run.outcomes)
    for error in _worst_first(run.collection_errors, expected):
        reason = _file_reason(error.failure, expected)
        for nodeid in named:
            if nodeid not in seen and file_of(nodeid) == error.id:
                seen.add(nodeid)
                kind = kind_of(nodeid, suite) or "target"
                entries.append(_named(nodeid, kind, "error", reason if kind == "target" else _lost_guard()))
    return sorted(entries, key=lambda entry: str(entry["id"]))


def _worst_first(errors: Sequence[CollectionError], expected: Expectation) -> list[CollectionError]:
    """A compiler tells several errors of one file: one that is no right reason speaks for all of them.

    What a compiler says beside a missing declared symbol and names nothing may be a consequence of it: the stubs show it.
    """
    right = {error.id for error in errors if _file_reason(error.failure, expected).right}
    telling = [
        error
        for error in errors
        if error.id not in right
        or error.failure is None
        or error.failure.names
        or error.failure.exc_type != "SyntaxError"
    ]
    return sorted(telling, key=lambda error: _file_reason(error.failure, expected).right)


def _entry(
    outcome: TestOutcome, suite: Suite, expected: Expectation, *, running: Collection[str], using: Collection[str]
) -> dict[str, Any]:
    """One test.

    Args:
        running: tests of which at least one row is not skipped.
        using: tests whose text speaks of a symbol that is declared new.
    """
    kind = kind_of(outcome.id, suite)
    if outcome.outcome == "skipped" and (kind == "guard" or without_parameters(outcome.id) in running):
        text = "is skipped here: it guards nothing and asks for nothing"
        return _named(outcome.id, "guard", "skipped", Reason(right=True, text=text))
    if outcome.passed and kind == "target" and without_parameters(outcome.id) in using:
        text = "passes at the base, where the new symbol that it uses does not exist: it would pass whatever that does"
        return _named(outcome.id, "target", "passed", Reason(right=False, text=text))
    if outcome.passed:
        reason = Reason(right=True, text="passes at the base: it guards what is there")
        return _named(outcome.id, "guard", "passed", reason)
    if kind == "guard":
        text = outcome.failure.message if outcome.failure else ""
        reason = Reason(
            right=False, text=f"is a guard and must pass at the base, but is {outcome.outcome}: {text[:200]}"
        )
        return _named(outcome.id, "guard", outcome.outcome, reason)
    return _named(outcome.id, "target", outcome.outcome, classify(outcome, expected))


def _named(nodeid: str, kind: str, outcome: str, reason: Reason) -> dict[str, Any]:
    return {
        "id": nodeid, "kind": kind, "outcome": outcome, "right_reason": reason.right, "reason": reason.text,
        "if_reached": reason.if_reached, "absent": reason.absent,
    }  # fmt: skip


def unmask(entries: Sequence[dict[str, Any]], runs: Sequence[tuple[Variant, SuiteRun]], expected: Expectation) -> None:
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
                wrong = masked_mistake(failure, expected, running=outcome is not None) if failure else ""
                if wrong:
                    entry |= {"right_reason": False, "reason": wrong}


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


def broken_files(runs: Sequence[SuiteRun], expected: Expectation) -> list[dict[str, Any]]:
    """Files that cannot be collected at the base, and whether that is because a declared symbol is still missing.

    Args:
        runs: the run at the base, then the one with the raising stub, in which only mistakes of the file remain.
    """
    found = []
    for error in _worst_first(runs[0].collection_errors, expected):
        reason = _file_reason(error.failure, expected)
        later = [one.failure for run in runs[1:] for one in run.collection_errors if one.id == error.id]
        mistakes = [text for one in later if one is not None and (text := masked_mistake(one, expected, running=False))]
        text = mistakes[0] if reason.right and mistakes else reason.text
        found.append({"id": error.id, "right_reason": reason.right and not mistakes, "reason": text})
    return found


def refuse_unreached(entries: Sequence[dict[str, Any]], rig: Rig, red_tree: str, suite: Suite) -> None:
    """Refuse targets that failed in their own code before they had executed a line of the project; measured by a traced run.

    Side effects: changes the entries.
    """
    doubtful = [entry for entry in entries if entry.get("if_reached") and entry["right_reason"]]
    if not doubtful:
        return
    traced = traced_of(run_tree(rig, red_tree, tests=suite.files, trace=True))
    if not traced.measured or traced.lost:
        return
    for entry in doubtful:
        name = str(entry["id"])
        if not traced.tests.get(name) and name not in traced.opaque:
            reason = unreached(entry["reason"])
            entry |= {"right_reason": reason.right, "reason": reason.text}
