"""Measurements that take too long: tests of the base that do not end, and a deadline that comes before the facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.agent import time_left_s
from agentforge.cancellation import TimeIsUp, for_at_most
from agentforge.events.kinds import EscalationRaised
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.base_line import time_limit
from agentforge.pipeline.model.runtime import Measured, Runtime

if TYPE_CHECKING:
    from agentforge.suite import Rig


def bounded_rig(state: RunState, runtime: Runtime) -> Rig:
    """What runs the suite; with the limit of one test where a test of the base does not end, and the time that a human gave."""
    rig = timed_rig(state, runtime)
    base = state.work.facts.get("baseline", {})
    limit, took = base.get("test_limit_s"), base.get("duration_s")
    rig = replace(rig, usual_s=float(took)) if isinstance(took, (int, float)) else rig
    return replace(rig, test_limit_s=float(limit)) if isinstance(limit, (int, float)) else rig


def timed_rig(state: RunState, runtime: Runtime) -> Rig:
    """What runs the suite, within the time that a human gave it for this task."""
    rig = runtime.rig()
    limit = time_limit(state, rig.timeout_s)
    return rig if limit == rig.timeout_s else replace(rig, timeout_s=limit)


def within_deadline(
    measure: Callable[[], Measured], state: RunState, *, stage: str, measuring: str
) -> Measured | EscalationRaised:
    """Measure within what is left of the run's time.

    The harness stops the tests that run at the deadline with all their children, records nothing of them, and measures again
    from the start when a human has given the run more time. A delivery is a matter of git alone and is not stopped.

    Args:
        stage: where the answer belongs; the one that comes next where the run is between two of them.
        measuring: name of the facts.
    Returns:
        what was measured, or the question of a run whose deadline came first.
    """
    try:
        with for_at_most(None if measuring == "deliver" else time_left_s(state)):
            return measure()
    except TimeIsUp:
        limit = state.brief.limits.deadline_s or 0.0
        return EscalationRaised(
            escalation_id=f"E{len(state.people.escalations) + 1}",
            stage=stage,
            kind="limit",
            reason=f"deadline: the {limit:.0f} seconds were over while AgentForge measured {measuring}; it stopped the tests",
            question="Raise the limit and continue, or abort?",
            context={"measuring": measuring},
        )
