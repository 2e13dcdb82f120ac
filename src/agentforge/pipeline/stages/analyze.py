"""ANALYZE: what the code is today where the request touches it; how the tests run is measured, not told."""

from __future__ import annotations

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.base_line import base_line_first
from agentforge.pipeline.model.stage import ACTIONS, READING, Json, Stage, texts


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """The draft with the measured base line of the tests."""
    return {**{key: draft[key] for key in draft if key not in STAGE.omit}, "tests": measured_tests(state)}


def measured_tests(state: RunState) -> dict[str, object]:
    """How the tests run at the base commit, and what they showed."""
    base = state.work.facts.get("baseline", {})
    return {
        "runner": base.get("runner", "none"),
        "command": base.get("command", ""),
        "paths": texts(base.get("test_files"))[:20],
        "baseline": {key: base.get(key) for key in ("tests", "passed", "failing", "flaky", "timed_out") if key in base},
    }


STAGE = Stage(
    name="analyze",
    produces="analysis",
    consumes=("intake", "clarify"),
    purpose="find the relevant code and measure the base line of the tests",
    criteria=("impacted files and symbols exist as named", "conventions, risks and constraints are stated"),
    tools=(*READING, "submit_artifact"),
    omit=("analysis_id", "intake_ref", "tests", "metadata"),
    actions=ACTIONS,
    complete=complete,
    ahead=("spec",),
    keeps_reading=True,
    measures_any_shape=True,
    begins_with=(base_line_first,),
)
