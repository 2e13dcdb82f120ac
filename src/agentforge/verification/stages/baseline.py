"""The base line: which tests pass, fail and flicker before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from agentforge.errors import ToolchainError
from agentforge.suite import Rig, causes_of, controls, keeps_away, run_tree, sound
from agentforge.testing.outcome import SuiteRun
from agentforge.testing.plan import TestPlan
from agentforge.underway import underway
from agentforge.verification.stages.classification import ENDLESS

_LISTED, _TOLD = 50, 3
_REASONS, _REASON_CHARS = 3, 240
_PARTS, _LONGER = 30, 3
_LEAST_S = 5.0


def measure_baseline(rig: Rig, *, tree: str, repeats: int = 3) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run the whole suite on a fresh checkout of the base; run what does not pass again.

    Args:
        repeats: runs in all of a test that does not pass, >= 1.
    Returns:
        facts {runner, command, source, interpreter, prepare, left_out, tests, passed, failing, flaky, skipped, outcomes,
        reasons, collection_errors, causes, blind, timed_out, duration_s, problems, canary, measured}, and evidence {passed_ids,
        flaky_ids, outcomes: id -> outcome, durations: id -> seconds}. `outcomes` of the facts counts them by name; `causes`
        says why files are not loaded; `blind` means that so much is not seen that the rest is no base line. A test that
        passed in one run and not in another is flaky and counts as not passed. Where a test does not end, {hung,
        test_limit_s} say which, and how long one test may take in later runs; it counts as failing.
    """
    patient = _patient(rig)
    try:
        with underway("runs the whole suite before the change"):
            first, hung, limit = _bounded(patient, tree, run_tree(patient, tree))
    except ToolchainError as exc:
        return _nothing(rig, exc.message), {"passed_ids": [], "flaky_ids": [], "outcomes": {}, "durations": {}}
    outcomes = {nodeid: one.outcome for nodeid, one in first.outcomes.items()}
    with underway("runs again what did not pass"):
        passed_once = _passed_again(patient, tree, first, hung=hung, repeats=repeats)
    failing = [nodeid for nodeid in first.failing_ids if nodeid not in passed_once]
    skipped = sum(1 for outcome in outcomes.values() if outcome in ("skipped", "xfailed", "xpassed"))
    causes = causes_of(first, rig.plan, present=rig.git.list_files(tree), read=rig.read(tree)) if _ailing(first) else ()
    facts = {
        "runner": first.runner,
        **_plan_facts(rig.plan),
        "tests": len(outcomes),
        "passed": len(first.passed_ids),
        "skipped": skipped,
        "outcomes": dict(Counter(outcomes.values())),
        "failing": failing[:_LISTED],
        "failing_count": len(failing),
        "reasons": _reasons(first, failing),
        "flaky": sorted(passed_once),
        "collection_errors": [error.id for error in first.collection_errors],
        "causes": [one.value() for one in causes],
        "blind": keeps_away(first, causes),
        "timed_out": first.timed_out,
        "duration_s": first.duration_s,
        "problems": list(first.problems),
        "canary": first.canary,
        "controls": controls(first, rig.plan),
        "measured": sound(first, rig.plan),
        **({"hung": list(hung), "test_limit_s": limit} if hung else {}),
    }
    durations = {nodeid: round(one.duration_s, 4) for nodeid, one in first.outcomes.items()}
    return facts, {
        "passed_ids": list(first.passed_ids), "flaky_ids": sorted(passed_once), "outcomes": outcomes, "durations": durations,
    }  # fmt: skip


def _patient(rig: Rig) -> Rig:
    """A run in which one test alone cannot use up the time of the whole suite; where the runner can stop a test."""
    able = rig.plan.runner in ("pytest", "unittest")
    return replace(rig, test_limit_s=round(max(_LEAST_S, rig.timeout_s / _PARTS), 1)) if able else rig


def _bounded(rig: Rig, tree: str, first: SuiteRun) -> tuple[SuiteRun, tuple[str, ...], float]:
    """Tell slow tests from those that do not end: what was stopped runs once more, alone and three times as long.

    Returns:
        the run with what the slow ones gave in the end, the tests that do not end, the limit of one test in later runs, seconds.
    """
    stopped = [nodeid for nodeid, one in first.outcomes.items() if one.failure and one.failure.exc_type == ENDLESS]
    if not stopped:
        return first, (), 0.0
    limit = _LONGER * rig.test_limit_s
    again = run_tree(replace(rig, test_limit_s=limit), tree, tests=sorted(stopped))
    ended = {
        nodeid: one
        for nodeid, one in again.outcomes.items()
        if nodeid in stopped and not (one.failure and one.failure.exc_type == ENDLESS)
    }
    hung = tuple(nodeid for nodeid in stopped if nodeid not in ended)
    slowest = max((one.duration_s for one in ended.values()), default=0.0)
    told = [f"{nodeid} does not end: it was stopped after {limit:.0f} s" for nodeid in hung[:_TOLD]]
    whole = replace(first, outcomes={**first.outcomes, **ended}, problems=(*first.problems, *told))
    return whole, hung, round(max(limit, _LONGER * slowest), 1)


def _passed_again(rig: Rig, tree: str, first: SuiteRun, *, hung: Collection[str], repeats: int) -> set[str]:
    """Failing tests that pass when they are run again; those that do not end are not."""
    open_ids = set(first.failing_ids) - set(hung)
    found: set[str] = set()
    for repeat in range(1, repeats):
        if not open_ids or first.timed_out:
            break
        again = run_tree(rig, tree, tests=sorted(open_ids), repeat=repeat)
        now = open_ids & set(again.passed_ids)
        found |= now
        open_ids -= now
    return found


def _reasons(run: SuiteRun, failing: Sequence[str]) -> list[dict[str, str]]:
    """Why tests fail, one of them for each message: {id, text}; at most three."""
    told: dict[str, str] = {}
    for nodeid in failing:
        failure = run.outcomes[nodeid].failure
        if failure is not None:
            told.setdefault(" ".join(f"{failure.exc_type}: {failure.message}".split())[:_REASON_CHARS], nodeid)
    return [{"id": nodeid, "text": text} for text, nodeid in list(told.items())[:_REASONS]]


def _ailing(run: SuiteRun) -> bool:
    return bool(run.collection_errors or run.failing_ids or not run.outcomes)


def _plan_facts(plan: TestPlan) -> dict[str, Any]:
    """How the tests run, as it is shown before anything is written."""
    return {
        "command": plan.shown_command, "source": plan.source, "interpreter": plan.interpreter,
        "prepare": list(plan.prepare), "left_out": list(plan.left_out),
    }  # fmt: skip


def _nothing(rig: Rig, problem: str) -> dict[str, Any]:
    """Facts of a suite that cannot be run at all."""
    return {
        "runner": rig.plan.runner, **_plan_facts(rig.plan), "tests": 0, "passed": 0, "skipped": 0, "outcomes": {},
        "failing": [], "failing_count": 0, "flaky": [], "collection_errors": [], "causes": [], "blind": False,
        "timed_out": False, "duration_s": 0.0, "problems": [problem], "canary": "absent", "measured": False,
        "controls": {"canary": "absent", "complete": False, "agree": None, "timed_out": False, "held": False},
    }  # fmt: skip
