from __future__ import annotations

from agentforge.events import kinds
from agentforge.events.state.attempt import StageState
from agentforge.events.state.run_state import Escalation, RunState, Totals
from agentforge.views.run_views import (
    artifact_path,
    artifact_value,
    escalation_value,
    memory_value,
    snapshot_path,
    state_value,
    task_value,
)
from agentforge.views.summary_view import summary_value
from agentforge.views.words import cost_usd, seconds, standing
from tests.support.run_states import run_state

ASKED = Escalation(
    escalation_id="E1",
    stage="spec",
    kind="approval",
    reason="r",
    question="q",
    options=("a",),
    context={"k": 1},
    raised_at="2025-12-31T10:00:00.900000Z",
)


def test_how_a_run_stands_in_one_word():
    assert standing(RunState(), interrupted=False) == "running"
    assert standing(RunState(), interrupted=True) == "paused"
    assert standing(run_state(escalations={"E1": ASKED}), interrupted=True) == "escalated"
    assert standing(run_state(outcome="failed", escalations={"E1": ASKED}), interrupted=True) == "failed"


def test_times_are_shown_to_the_second_and_unknown_costs_as_none():
    assert seconds("2025-12-31T10:00:05.999999Z") == "2025-12-31T10:00:05Z"
    assert seconds("") is None
    assert cost_usd(Totals(cost_usd=0.1 + 0.2)) == 0.3
    assert cost_usd(Totals(cost_usd=1.0, cost_known=False)) is None


def test_artifacts_stand_where_the_seed_has_them():
    stages = ("intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver", "audit_deps")
    assert [artifact_path(stage).removeprefix("artifacts/phases/") for stage in stages] == [
        "intake/intake_record.yaml",
        "clarify/clarification.yaml",
        "analyze/analysis.yaml",
        "spec/specification.yaml",
        "red/test_suite.yaml",
        "green/implementation.yaml",
        "refactor/deliverable.yaml",
        "deliver/delivery_report.yaml",
        "audit_deps/audit_deps.yaml",
    ]
    assert [snapshot_path(step) for step in (1, 999, 1000)] == [
        f"artifacts/snapshots/step_{step}.patch" for step in ("001", "999", "1000")
    ]


def test_an_artifact_is_shown_in_a_readable_order_and_unchanged():
    artifact = {
        "verification": {"ok": True},
        "a": [{"description": "d", "b": 1, "id": "REQ-001"}],
        "spec_id": "S",
        "title": "T",
    }
    shown = artifact_value(artifact)
    assert shown == artifact
    assert list(shown) == ["spec_id", "title", "a", "verification"]
    assert list(shown["a"][0]) == ["id", "description", "b"]


def test_the_goal_is_the_first_line_of_the_request_until_intake_says_it_better():
    assert task_value(run_state(request="\n\nFix it\nplease"))["goal"] == "Fix it"
    assert task_value(run_state(request=""))["goal"] == ""
    assert (
        task_value(run_state(request="Fix it", artifacts={"intake": {"goal": "Fix the crash"}}))["goal"]
        == "Fix the crash"
    )


def test_a_specification_of_an_unexpected_shape_breaks_no_view():
    for spec in (
        {"requirements": "x", "constraints": {"a": 1}},
        {"requirements": ["x", {"acceptance_criteria": "y"}], "constraints": [1, {}]},
    ):
        task = task_value(run_state(artifacts={"spec": spec}))
        assert (task["success_criteria"], task["constraints"]) == ([], [])


def test_the_state_tells_phase_totals_and_what_is_open():
    stage = StageState(
        status="waiting",
        attempt=2,
        steps=3,
        prompt_tokens=10,
        completion_tokens=5,
        results=({"passed": True}, {"passed": False}),
    )
    skipped = StageState(status="skipped", reason="tests were supplied")
    state = run_state(
        run_id="t",
        stage="spec",
        stages={"red": skipped, "spec": stage},
        escalations={"E1": ASKED},
        last_at="2025-12-31T10:00:01.0Z",
    )
    value = state_value(state, interrupted=False, records=7, head="h")
    assert (value["status"], value["phase"], value["attempt"], value["escalations"]) == ("escalated", "spec", 2, ["E1"])
    assert value["phases"] == {
        "red": {"status": "skipped", "attempts": 0, "steps": 0, "tokens": 0, "reason": "tests were supplied"},
        "spec": {"status": "waiting", "attempts": 2, "steps": 3, "tokens": 15},
    }
    assert value["verification_status"] == {"checks_passing": 1, "checks_failing": 1, "ready_for_completion": False}
    assert value["trail"] == {"records": 7, "head": "h"} and "cost_known" not in value["totals"]


def test_the_working_memory_names_findings_and_answers():
    state = run_state(
        run_id="t",
        findings=({"rule": "r", "path": "p", "message": "m", "passed": False, "measured": 1},),
        answers=("q -> a",),
    )
    value = memory_value(state)
    assert value["findings"] == [{"rule": "r", "path": "p", "message": "m"}] and value["answers"] == ["q -> a"]


def test_an_escalation_tells_how_to_answer_until_it_is_answered():
    value = escalation_value(ASKED, run_id="task-1")
    assert (value["escalation_id"], value["status"], value["created_at"]) == (
        "task-1.E1",
        "pending",
        "2025-12-31T10:00:00Z",
    )
    assert value["resolve_with"] == [
        "agentforge resolve task-1.E1 --approve --resume",
        'agentforge resolve task-1.E1 --reject "REASON" --resume',
        "agentforge abort task-1",
    ]
    from dataclasses import replace

    answer = kinds.EscalationResolved(escalation_id="E1", decision="reject", text="no", by="me")
    resolved = escalation_value(
        replace(ASKED, resolution=answer, resolved_at="2025-12-31T11:00:00.0Z"), run_id="task-1"
    )
    assert (resolved["status"], resolved["resolve_with"]) == ("resolved", [])
    assert resolved["resolution"] == {
        "decision": "reject",
        "text": "no",
        "resolved_by": "me",
        "resolved_at": "2025-12-31T11:00:00Z",
    }


def test_a_summary_is_short_whatever_the_request():
    assert len(str(summary_value(run_state(request="x" * 100_000))["request"])) == 200
