"""Makes a `SuiteRun` of what came over the channel and what stands in the second channel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentforge.errors import ToolchainError
from agentforge.testing.channel import Received
from agentforge.testing.junit_xml import pytest_key, read_cases, worst
from agentforge.testing.outcome import (
    MESSAGE_LIMIT,
    Canary,
    CollectionError,
    EarlyEnd,
    Failure,
    Outcome,
    SuiteRun,
    TestOutcome,
    failure_of,
    outcome_of,
)
from agentforge.testing.report_stream import SIGNALLED, last_words, was_killed, with_last_words
from agentforge.workspace.processes.process import Completed

_TAIL = 2000
_SESSION = "the whole session"
_JUNIT: dict[Outcome, str] = {
    "passed": "passed", "failed": "failed", "error": "failed", "skipped": "skipped", "xfailed": "skipped",
    "xpassed": "passed",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Canaries:
    """The planted tests: the first two must fail, the last must be the last of the session.

    Attributes:
        coins: further planted tests, name -> the two words that each compares. They differ or not as they were drawn, and
            what differs must be told in the failure's message: nobody can know before the run how such a test ends.
    """

    first: str
    late: str
    end: str
    coins: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """In the order of the session."""
        return self.first, self.late, self.end, *self.coins

    def owns(self, nodeid: str) -> bool:
        """Whether a test of the session is one of the planted ones."""
        return nodeid.rpartition("::")[2] in self.names


def assemble(
    received: Received,
    completed: Completed,
    *,
    canaries: Canaries,
    junit: Path | None,
    command: Sequence[str],
    runner: str,
) -> SuiteRun:
    """Judge the genuineness of a run.

    Args:
        junit: the second channel; None where the runner has none.
    """
    finished = next((record for record in received.records if record["kind"] == "finished"), None)
    results, order, doubtful = _results(received.records, canaries)
    collected = _ids(received.records, "collected")
    errors = tuple(_collection_error(record) for record in received.records if record["kind"] == "collect-error")
    if finished is not None and not results and int(finished["exit"]) not in (0, 1, 5):
        errors = (*errors, *_refusal(completed.text))
    canary = _canary(order, received.records, canaries)
    agreement = (
        _disagreement(results, doubtful, junit, canaries) if junit is not None and finished is not None else None
    )
    unstarted = any(one.id == _SESSION for one in errors)
    problems = [
        *received.problems,
        *_said(received.records, finished, completed.text),
        *(() if unstarted else agreement or ()),
    ]
    if finished is None:
        problems.append(_end_told(received.records, completed, canaries))
    missing = [nodeid for nodeid in collected if nodeid not in results]
    if finished is not None and missing:
        problems.append(f"{len(missing)} collected tests have no result, the first is {missing[0]}")
    sound = finished is not None and not missing and not received.problems and not finished.get("replaced")
    return SuiteRun(
        outcomes=results,
        collected=collected,
        collection_errors=errors,
        complete=sound and not completed.timed_out and int((finished or {}).get("exit", 3)) in (0, 1, 5),
        canary=canary,
        agree=None if junit is None else agreement == (),
        timed_out=completed.timed_out,
        killed=was_killed(completed),
        problems=tuple(problems),
        duration_s=round(completed.duration_s, 3),
        output_tail=completed.text[-_TAIL:],
        command=tuple(command),
        runner=next((str(record["runner"]) for record in received.records if record["kind"] == "hello"), runner),
        coverage=_coverage(received.records),
        early_end=_early_end(received.records, completed, canaries) if finished is None else None,
    )


def _coverage(records: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """What each test executed, as the child tells it; None when it was not asked."""
    for record in records:
        if record["kind"] == "no-coverage":
            return {"note": str(record["reason"])}
        if record["kind"] == "coverage":
            tests = {name: marks for one in records if one["kind"] == "executed" for name, marks in one["tests"]}
            calls = [call for one in records if one["kind"] == "calls" for call in one["calls"]]
            told = {key: record[key] for key in ("core", "owner", "files", "lost", "opaque")}
            return {**told, "tests": tests, "calls": calls}
    return None


def _results(
    records: Sequence[Mapping[str, Any]], canaries: Canaries
) -> tuple[dict[str, TestOutcome], list[str], frozenset[str]]:
    """The outcomes by id (the worst when a test ran twice), all ids in the order they ended, and those judged by us.

    The last are tests that the runner calls passed and the evidence plugin does not: the channels differ on purpose.
    """
    results: dict[str, TestOutcome] = {}
    order: list[str] = []
    doubtful: set[str] = set()
    for record in records:
        if record["kind"] != "result":
            continue
        nodeid = str(record["id"])
        order.append(nodeid)
        if canaries.owns(nodeid):
            continue
        outcome = outcome_of({**record, "duration_s": record["duration"]})
        known = results.get(nodeid)
        if known is None or worst(outcome.outcome, known.outcome) == outcome.outcome:
            results[nodeid] = outcome
        if record["problems"]:
            doubtful.add(nodeid)
    return results, order, frozenset(doubtful)


def _ids(records: Sequence[Mapping[str, Any]], kind: str) -> tuple[str, ...]:
    return tuple(str(nodeid) for record in records if record["kind"] == kind for nodeid in record["ids"])


def _collection_error(record: Mapping[str, Any]) -> CollectionError:
    return CollectionError(id=str(record["id"]), failure=failure_of(record["failure"]), text=str(record["text"]))


def _canary(order: list[str], records: Sequence[Mapping[str, Any]], canaries: Canaries) -> Canary:
    """Every planted test must have failed, and the closing one must have come last."""
    planted = _ids(records, "planted")
    ended = {
        str(one["id"]): one["outcome"] for one in records if one["kind"] == "result" and canaries.owns(str(one["id"]))
    }
    if not planted or not ended:
        return "absent"
    last = bool(order) and order[-1].rpartition("::")[2] == canaries.end
    red = all(ended.get(nodeid) in ("failed", "error") for nodeid in planted)
    tossed = all(_fell_right(name, words, records) for name, words in canaries.coins.items())
    return "held" if last and red and tossed else "broken"


def _fell_right(name: str, words: tuple[str, str], records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a coin passed where its words are the same, and failed with both in its message where they differ."""
    results = [one for one in records if one["kind"] == "result" and str(one["id"]).rpartition("::")[2] == name]
    if len(results) != 1:
        return False
    told = str((results[0]["failure"] or {}).get("message", ""))
    if words[0] == words[1]:
        return bool(results[0]["outcome"] == "passed")
    return results[0]["outcome"] == "failed" and all(word in told for word in words)


def _disagreement(
    results: Mapping[str, TestOutcome], doubtful: frozenset[str], junit: Path, canaries: Canaries
) -> tuple[str, ...]:
    """Compare both channels; empty when they agree."""
    try:
        cases = read_cases(junit)
    except ToolchainError as exc:
        return (f"the second channel is missing: {exc.message}",)
    second: dict[tuple[str, str], Outcome] = {}
    for case in cases:
        if case.classname and case.name not in canaries.names:  # a case without class name is a file, not a test
            key = (case.classname, case.name)
            second[key] = worst(case.outcome, second.get(key, "passed"))
    first: dict[tuple[str, str], str] = {}
    for nodeid, outcome in results.items():
        key = pytest_key(nodeid)
        first[key] = "failed" if first.get(key) == "failed" else _JUNIT[outcome.outcome]
    agreed = {pytest_key(nodeid) for nodeid in doubtful}
    wrong = [key for key, told in first.items() if key not in agreed and _told(second, key) != told]
    wrong += [key for key in second if key not in first]
    if not wrong:
        return ()
    return (f"the two result channels differ on {len(wrong)} tests, the first is {'::'.join(wrong[0])}",)


def _told(second: Mapping[tuple[str, str], Outcome], key: tuple[str, str]) -> str | None:
    found = second.get(key)
    return None if found is None else _JUNIT[found]


def _said(records: Sequence[Mapping[str, Any]], finished: Mapping[str, Any] | None, output: str) -> list[str]:
    """Problems that the child itself reports."""
    found = [f"the test runner crashed: {one['text'][-300:]}" for one in records if one["kind"] == "internal-error"]
    dropped = _ids(records, "dropped")
    if dropped:
        found.append(f"a hook dropped {len(dropped)} collected tests, the first is {dropped[0]}")
    if finished is None:
        return found
    if finished.get("leaks"):
        found.append(f"modules came from outside the checkout: {', '.join(finished['leaks'][:5])}")
    if finished.get("replaced"):
        found.append(f"code of the checkout replaced parts of the test runner: {', '.join(finished['replaced'][:3])}")
    if int(finished["exit"]) not in (0, 1, 5):
        ended = f"the session ended with status {finished['exit']} (interrupted, crashed or wrong usage)"
        found.append(with_last_words(ended, output))
    return found


def _refusal(output: str) -> tuple[CollectionError, ...]:
    """Why pytest did not begin (a conftest.py that cannot be loaded, an option that it does not know), from what it printed."""
    said = [line for line in output.splitlines() if re.match(r"E  +\w|(?:ERROR|error|\S+: error): ", line)]
    if not said:
        return ()
    text = re.sub(r"^(?:E +|ERROR: |\S*: error: |error: )", "", said[-1]).strip()
    kind, colon, message = text.partition(": ")
    named = bool(colon) and kind.isidentifier()
    failure = Failure(
        exc_type=kind if named else "UsageError",
        message=(message if named else text)[:MESSAGE_LIMIT],
        text=output[-_TAIL:],
    )
    return (CollectionError(id=_SESSION, failure=failure, text=text),)


def _running(records: Sequence[Mapping[str, Any]], canaries: Canaries) -> str:
    """The test that was started last and has no result; "" where there is none."""
    ended = {str(one["id"]) for one in records if one["kind"] == "result"}
    started = [str(one["id"]) for one in records if one["kind"] == "start"]
    running = [nodeid for nodeid in started if nodeid not in ended and not canaries.owns(nodeid)]
    return running[-1] if running else ""


def _early_end(records: Sequence[Mapping[str, Any]], completed: Completed, canaries: Canaries) -> EarlyEnd | None:
    begun = any(one["kind"] == "start" for one in records)
    if completed.timed_out or not (
        begun or completed.exit_code > SIGNALLED
    ):  # a runner that cannot begin ends by itself
        return None
    running = _running(records, canaries)
    return EarlyEnd(exit_code=completed.exit_code, running=running, said=last_words(completed.text))


def _end_told(records: Sequence[Mapping[str, Any]], completed: Completed, canaries: Canaries) -> str:
    """Say how far a session came that never said that it was finished."""
    running = _running(records, canaries)
    none_begun = not any(one["kind"] == "start" for one in records)
    where = f" during {running}" if running else (" before any test" if none_begun else "")
    if completed.timed_out:
        return f"the suite was stopped at its time limit{where}"
    return with_last_words(f"the test process ended early{where} (exit code {completed.exit_code})", completed.text)
