"""The base line: which tests pass, fail and flicker before anything is written."""

from __future__ import annotations

from typing import Any

from agentforge.errors import ToolchainError
from agentforge.runners.outcome import SuiteRun
from agentforge.runners.rig import Rig, controls, run_tree, sound

_LISTED = 50


def measure_baseline(rig: Rig, *, tree: str, repeats: int = 3) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run the whole suite on a fresh checkout of the base; run what does not pass again.

    Args:
        repeats: runs in all of a test that does not pass, >= 1.
    Returns:
        facts {runner, command, source, tests, passed, failing, flaky, skipped, collection_errors, timed_out, duration_s,
        problems, canary, measured}, and evidence {passed_ids, flaky_ids, outcomes: id -> outcome}. A test that passed in
        one run and not in another is flaky and counts as not passed.
    """
    try:
        first = run_tree(rig, tree)
    except ToolchainError as exc:
        return _nothing(rig, exc.message), {"passed_ids": [], "flaky_ids": [], "outcomes": {}}
    outcomes = {nodeid: one.outcome for nodeid, one in first.outcomes.items()}
    passed_once = _passed_again(rig, tree, first, repeats=repeats)
    failing = [nodeid for nodeid in first.failing_ids if nodeid not in passed_once]
    skipped = sum(1 for outcome in outcomes.values() if outcome in ("skipped", "xfailed", "xpassed"))
    facts = {
        "runner": first.runner,
        "command": rig.plan.shown_command,
        "source": rig.plan.source,
        "tests": len(outcomes),
        "passed": len(first.passed_ids),
        "skipped": skipped,
        "failing": failing[:_LISTED],
        "failing_count": len(failing),
        "flaky": sorted(passed_once),
        "collection_errors": [error.id for error in first.collection_errors],
        "timed_out": first.timed_out,
        "duration_s": first.duration_s,
        "problems": list(first.problems),
        "canary": first.canary,
        "controls": controls(first, rig.plan),
        "measured": sound(first, rig.plan),
    }
    return facts, {"passed_ids": list(first.passed_ids), "flaky_ids": sorted(passed_once), "outcomes": outcomes}


def _passed_again(rig: Rig, tree: str, first: SuiteRun, *, repeats: int) -> set[str]:
    """Failing tests that pass when they are run again."""
    open_ids = set(first.failing_ids)
    found: set[str] = set()
    for repeat in range(1, repeats):
        if not open_ids or first.timed_out:
            break
        again = run_tree(rig, tree, tests=sorted(open_ids), repeat=repeat)
        now = open_ids & set(again.passed_ids)
        found |= now
        open_ids -= now
    return found


def _nothing(rig: Rig, problem: str) -> dict[str, Any]:
    """Facts of a suite that cannot be run at all."""
    return {
        "runner": rig.plan.runner, "command": rig.plan.shown_command, "source": rig.plan.source, "tests": 0, "passed": 0,
        "skipped": 0, "failing": [], "failing_count": 0, "flaky": [], "collection_errors": [], "timed_out": False,
        "duration_s": 0.0, "problems": [problem], "canary": "absent", "measured": False,
        "controls": {"canary": "absent", "complete": False, "agree": None, "timed_out": False, "held": False},
    }  # fmt: skip
