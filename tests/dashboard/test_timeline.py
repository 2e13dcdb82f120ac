"""The timeline of a run: attempts, steps, repetitions and breaks out of its records alone."""

from __future__ import annotations

from typing import Any

from agentforge.dashboard.timeline import Timeline, break_rows, stage_rows, totals_line
from agentforge.events.state.attempt import StageState


def told(*records: tuple[int, str, dict[str, Any]]) -> Timeline:
    """A timeline of records at seconds after ten o'clock."""
    timeline = Timeline()
    for second, kind, data in records:
        timeline.see(
            kind, f"2026-01-01T{10 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.000000Z", data
        )
    return timeline


def step(second: int, number: int, *, stage: str = "green", attempt: int = 1, **reply: Any) -> list[Any]:
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return [
        (second, "ModelCalled", {"step": number, "stage": stage, "attempt": attempt, "model": "m"}),
        (second + 2, "ModelReplied", {"step": number, "text": "x", "usage": usage, "cost_usd": 0.5, "duration_ms": 2000, **reply}),
        (second + 3, "ToolFinished", {"step": number, "name": "edit", "status": "success", "summary": "a.py"}),
        (second + 4, "StepFinished", {"step": number, "stage": stage, "summary": "edit"}),
    ]  # fmt: skip


REFUSED = {"stage": "green", "passed": False, "results": [{"rule": "r", "passed": False, "message": "a test fails"}]}
TWO_ATTEMPTS = (
    (0, "RunStarted", {}),
    (1, "StageStarted", {"stage": "green", "attempt": 1}),
    *step(1, 1, requests=3, failed=[{"model": "n", "slug": "s", "message": ""}]),
    (8, "FactsGathered", {"name": "green", "duration_ms": 3000}),
    (9, "StageVerified", REFUSED),
    (9, "StageStarted", {"stage": "green", "attempt": 2}),
    *step(9, 2, attempt=2),
    (14, "StageVerified", {"stage": "green", "passed": True, "results": []}),
    (14, "StagePassed", {"stage": "green"}),
    (20, "FactsGathered", {"name": "impact", "duration_ms": 6000}),
    (20, "StageStarted", {"stage": "refactor", "attempt": 1}),
)


def test_a_stage_shows_time_tokens_cost_and_repetitions() -> None:
    rows = stage_rows(
        told(*TWO_ATTEMPTS), ("green", "refactor", "deliver"), {"refactor": StageState(status="running")}, now=None
    )
    green, refactor, deliver = rows
    assert (green["seconds"], green["steps"], green["tokens"], green["cost"]) == (14.0, 2, 220, 1.0)
    assert (green["attempts"], green["asked_again"], green["measured_s"], green["model_s"]) == (2, 3, 3.0, 4.0)
    assert green["refused"] == [(1, ("a test fails",))]
    assert (refactor["seconds"], refactor["measured_s"]) == (6.0, 6.0), "what is measured before a stage belongs to it"
    assert refactor["status"] == "paused", "nobody drives the run"
    assert (deliver["seconds"], deliver["steps"]) == (None, 0)
    assert totals_line(rows)["again"] == "4"
    assert green["bar"].count("<rect") == 2


def test_steps_know_their_verdict_and_their_length() -> None:
    timeline = told(*TWO_ATTEMPTS)
    assert [(one.number, one.verdict, one.ended - one.begun) for one in timeline.steps] == [
        (1, False, 4.0),
        (2, True, 4.0),
    ]
    assert timeline.steps[0].tools == [("edit", "success", "a.py")]


def test_a_price_that_is_not_known_makes_the_sum_unknown() -> None:
    timeline = told((0, "StageStarted", {"stage": "green", "attempt": 1}), *step(1, 1), *step(6, 2, cost_usd=None))
    rows = stage_rows(timeline, ("green",), {}, now=None)
    assert rows[0]["cost"] is None
    assert totals_line(rows)["cost"] == "unknown"


def test_waiting_for_people_is_no_work() -> None:
    timeline = told(
        (0, "StageStarted", {"stage": "spec", "attempt": 1}),
        (10, "EscalationRaised", {"escalation_id": "E1", "kind": "question", "question": "Which?", "reason": ""}),
        (11, "EscalationRaised", {"escalation_id": "E2", "kind": "question", "question": "And?", "reason": ""}),
        (3000, "EscalationResolved", {"escalation_id": "E1"}),
        (4000, "EscalationResolved", {"escalation_id": "E2"}),
        (4001, "RunResumed", {}),
        (4005, "StageVerified", {"stage": "spec", "passed": True, "results": []}),
    )
    assert break_rows(timeline) == [{"kind": "question", "why": "Which?", "seconds": 3991.0}]
    assert stage_rows(timeline, ("spec",), {}, now=None)[0]["seconds"] == 14.0


def test_a_process_that_died_leaves_a_break_and_an_error_says_why() -> None:
    begun = (0, "StageStarted", {"stage": "spec", "attempt": 1})
    died = told(begun, (5, "StageSkipped", {"stage": "x"}), (100, "RunResumed", {}))
    assert [(one.kind, one.begun - died.begun, one.ended) for one in died.breaks] == [
        ("stopped", 5.0, died.begun + 100)
    ]
    broken = told(begun, (5, "RunInterrupted", {"reason": "no key", "slug": "no-model"}))
    assert broken.interrupted["slug"] == "no-model"
    assert broken.breaks[-1].ended is None
    broken.see("RunResumed", "2026-01-01T10:01:00.000000Z", {})
    assert broken.interrupted == {}


def test_a_step_that_is_asked_again_after_a_crash_is_one_step() -> None:
    timeline = told(
        (0, "StageStarted", {"stage": "green", "attempt": 1}), *step(1, 1)[:1], (50, "RunResumed", {}), *step(51, 1)
    )
    assert [(one.number, one.asked_again) for one in timeline.steps] == [(1, 1)]


def test_a_run_that_goes_on_lasts_until_now() -> None:
    timeline = told((0, "StageStarted", {"stage": "green", "attempt": 1}))
    row = stage_rows(timeline, ("green",), {"green": StageState(status="running")}, now=timeline.begun + 90)[0]
    assert (row["seconds"], row["status"]) == (90.0, "running")
