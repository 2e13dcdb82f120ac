from __future__ import annotations

from dataclasses import replace

import pytest

from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve, limits_from
from agentforge.events.kinds import Event
from agentforge.events.state.attempt import LOOP_WINDOW, RECENT_STEPS, VIEWS_KEPT, StageState
from agentforge.events.state.run_state import Limits, RunState, Totals
from tests.support.run_states import run_state, with_fields

START = kinds.RunStarted(
    kind="task", run_id="t", request="r", repo="/r", base_commit="c", limits={"max_steps": 9, "later": 1}
)


def at(second: int) -> str:
    return f"2025-12-31T10:{second // 60:02d}:{second % 60:02d}.000000Z"


def fold(*events: Event, state: RunState | None = None, begin: int = 0) -> RunState:
    """Fold events that came a second apart."""
    state = state or RunState()
    for second, event in enumerate(events, begin):
        state = evolve(state, event, at=at(second))
    return state


def called(step: int, stage: str = "green") -> Event:
    return kinds.ModelCalled(step=step, stage=stage, attempt=1, model="m", request="d", context_tokens=100 * step)


def replied(step: int, *names: str, cost: float | None = 0.5) -> Event:
    calls = tuple({"call_id": f"c{number}", "name": name, "arguments": "{}"} for number, name in enumerate(names))
    usage = {"prompt_tokens": 40, "completion_tokens": 10, "cached_tokens": 30}
    return kinds.ModelReplied(
        step=step, text="said", tool_calls=calls, finish="stop", usage=usage, model="m", cost_usd=cost, requests=2
    )


def finished(step: int, index: int = 0, path: str | None = None) -> kinds.ToolFinished:
    view = {"path": path, "offset": 1} if path else None
    return kinds.ToolFinished(
        step=step,
        index=index,
        call_id="c0",
        name="read_file",
        status="success",
        summary="s",
        view=view,
        result=f"r{step}.{index}",
    )


def step(number: int, path: str | None = None) -> list[Event]:
    return [
        called(number),
        replied(number, "read_file"),
        finished(number, path=path),
        kinds.StepFinished(step=number, stage="green", summary="s"),
    ]


def verified(stage: str, *, passed: bool) -> Event:
    results = ({"rule": "schema", "passed": True}, {"rule": "holds", "passed": passed, "message": "no"})
    return kinds.StageVerified(
        stage=stage,
        attempt=1,
        passed=passed,
        contract="k",
        contract_digest="",
        artifact={"a": 1},
        artifact_digest="da",
        results=results,
    )


def test_the_first_event_sets_what_the_run_is_and_ignores_limits_of_a_newer_program():
    state = fold(START)
    assert state == run_state(
        run_id="t", request="r", repo="/r", base_commit="c", limits=Limits(max_steps=9), started_at=at(0), last_at=at(0)
    )


def test_a_resume_changes_only_the_limits_it_names():
    state = fold(START, kinds.RunResumed(pid=1, limits={"budget_usd": 2.5}))
    assert state.brief.limits == Limits(max_steps=9, budget_usd=2.5)
    assert limits_from({}, state.brief.limits) == state.brief.limits


def test_a_step_counts_tokens_calls_requests_and_money_once():
    state = fold(START, kinds.StageStarted(stage="green", attempt=1), *step(1), *step(2))
    assert state.usage.totals == Totals(
        steps=2,
        llm_calls=2,
        requests=4,
        prompt_tokens=80,
        cached_tokens=60,
        completion_tokens=20,
        max_step_prompt_tokens=200,
        cost_usd=1.0,
        tool_calls=2,
    )
    assert state.progress.stages["green"] == StageState(
        status="running", attempt=1, steps=2, prompt_tokens=80, completion_tokens=20, cost_usd=1.0
    )
    assert state.progress.turn.steps_in_attempt == 2


def test_a_price_that_is_unknown_once_makes_the_sum_unknown():
    state = fold(START, called(1), replied(1, cost=None), called(2), replied(2, cost=1.0))
    assert (state.usage.totals.cost_usd, state.usage.totals.cost_known) == (1.0, False)


def test_a_call_that_is_made_again_after_a_crash_is_the_same_step():
    state = fold(START, kinds.StageStarted(stage="green", attempt=1), called(1), called(1))
    assert (
        state.progress.stages["green"].steps,
        state.progress.turn.steps_in_attempt,
        state.progress.turn.calling,
    ) == (1, 1, True)


def test_an_intent_without_a_result_stays_in_doubt():
    intent = kinds.ToolStarted(
        step=1, index=0, call_id="c0", name="edit", arguments={"path": "a"}, effect="write", touches={"a": "d"}
    )
    state = fold(START, called(1), replied(1, "edit", "edit"), intent)
    assert (state.progress.turn.started, state.progress.turn.done) == (True, 0)
    assert state.progress.turn.started_event == {
        "name": "edit",
        "effect": "write",
        "touches": {"a": "d"},
        "tree": "",
        "arguments": {"path": "a"},
    }
    after = fold(finished(1), state=state, begin=9)
    assert (
        after.progress.turn.started,
        after.progress.turn.started_event,
        after.progress.turn.done,
        len(after.progress.turn.results),
    ) == (False, None, 1, 1)


def test_what_a_context_shows_is_bounded_however_long_the_run():
    state = fold(START, *[event for number in range(1, 40) for event in step(number, path=f"f{number}.py")])
    assert [item.step for item in state.progress.turn.recent] == [
        39 - RECENT_STEPS + 1 + offset for offset in range(RECENT_STEPS)
    ]
    assert [path for path, _ in state.progress.turn.views] == [f"f{number}.py" for number in range(40 - VIEWS_KEPT, 40)]
    assert len(state.progress.turn.loop) == LOOP_WINDOW and state.progress.turn.results == ()


def test_a_file_that_is_viewed_again_moves_to_the_end_instead_of_standing_twice():
    state = fold(START, *step(1, path="a"), *step(2, path="b"), *step(3, path="a"))
    assert [path for path, _ in state.progress.turn.views] == ["b", "a"]


def test_replies_without_a_tool_call_in_a_row_are_counted_and_reset():
    silent = fold(START, called(1), replied(1), called(2), replied(2))
    assert silent.progress.turn.silent_steps == 2
    assert fold(called(3), replied(3, "grep"), state=silent).progress.turn.silent_steps == 0


def test_a_model_that_failed_leaves_its_error_and_its_requests_and_no_open_call():
    failed = kinds.ModelFailed(step=1, slug="rate-limited", message="429", requests=4)
    broken = fold(START, called(1), failed)
    assert (broken.progress.turn.calling, broken.usage.totals.requests) == (False, 4)
    assert broken.progress.error == {"slug": "rate-limited", "message": "429"}


def test_a_failed_verdict_leaves_its_findings_for_the_next_attempt():
    submitted = kinds.ArtifactSubmitted(stage="spec", attempt=1, draft={"d": 1}, by="model")
    facts = kinds.FactsGathered(name="spec", attempt=1, facts={"f": 1}, tree="t1")
    state = fold(START, kinds.StageStarted(stage="spec", attempt=1), submitted, facts)
    assert state.review.submission is not None and (state.review.submission.facts, state.review.submission.tree) == (
        {"f": 1},
        "t1",
    )
    state = fold(verified("spec", passed=False), state=state)
    assert (
        state.review.submission,
        state.progress.stages["spec"].status,
        [item["rule"] for item in state.review.findings],
    ) == (None, "failed", ["holds"])
    again = fold(kinds.StageStarted(stage="spec", attempt=2), state=state)
    assert (
        again.review.verdict,
        [item["rule"] for item in again.review.findings],
        again.progress.stages["spec"].attempt,
    ) == (None, ["holds"], 2)


def test_a_passed_stage_leaves_its_artifact_and_a_clean_table():
    state = fold(
        START,
        kinds.StageStarted(stage="spec", attempt=1),
        *step(1),
        verified("spec", passed=True),
        kinds.StagePassed(stage="spec", artifact_digest="da"),
    )
    assert (
        state.progress.stage,
        state.work.artifacts,
        state.progress.stages["spec"].status,
        state.progress.stages["spec"].artifact_digest,
    ) == ("", {"spec": {"a": 1}}, "verified", "da")
    assert (state.review.verdict, state.review.findings, state.progress.turn.recent, state.progress.turn.step) == (
        None,
        (),
        (),
        1,
    )


def test_a_base_line_is_a_fact_of_its_own_and_no_part_of_a_submission():
    submitted = kinds.ArtifactSubmitted(stage="red", attempt=1, draft={}, by="model")
    state = fold(
        START,
        kinds.StageStarted(stage="red", attempt=1),
        submitted,
        kinds.FactsGathered(name="baseline", attempt=1, facts={"n": 1}),
    )
    assert (
        state.review.submission is not None
        and state.review.submission.facts is None
        and state.work.facts == {"baseline": {"n": 1}}
    )


@pytest.mark.parametrize(
    ("resolved", "answers", "findings"),
    [
        (kinds.EscalationResolved(escalation_id="E1", decision="answer", text=" hyphen "), ("Which? -> hyphen",), []),
        (kinds.EscalationResolved(escalation_id="E1", decision="reject", text="too wide"), (), ["too wide"]),
        (kinds.EscalationResolved(escalation_id="E1", decision="reject"), (), ["rejected without a reason"]),
        (kinds.EscalationResolved(escalation_id="E1", decision="approve"), (), []),
    ],
)
def test_an_answer_reaches_the_stage_that_asked(resolved, answers, findings):
    raised = kinds.EscalationRaised(escalation_id="E1", stage="spec", kind="question", reason="r", question="Which?")
    state = fold(START, kinds.StageStarted(stage="spec", attempt=1), raised)
    assert (state.progress.stages["spec"].status, [item.escalation_id for item in state.people.open_escalations]) == (
        "waiting",
        ["E1"],
    )
    after = fold(resolved, state=state, begin=5)
    assert (after.people.open_escalations, after.progress.stages["spec"].status) == ((), "running")
    assert (after.people.answers, [item["message"] for item in after.review.findings]) == (answers, findings)
    assert after.people.escalations["E1"].resolved_at == at(5)


def test_an_answer_to_nothing_changes_nothing_but_the_time():
    state = fold(START)
    after = fold(kinds.EscalationResolved(escalation_id="E9", decision="approve"), state=state, begin=1)
    assert after == with_fields(state, last_at=at(1))


def test_time_in_which_nobody_drove_the_run_or_the_clock_was_set_back_does_not_count():
    state = evolve(fold(START), kinds.StageStarted(stage="spec", attempt=1), at=at(10))
    assert state.progress.active_s == 10
    assert evolve(state, kinds.RunResumed(pid=1), at="2026-03-01T00:00:00.000000Z").progress.active_s == 10
    assert evolve(state, kinds.StageSkipped(stage="red", reason=""), at=at(5)).progress.active_s == 10
    assert (
        evolve(state, kinds.StageSkipped(stage="red", reason=""), at="2026-03-01T00:00:00.000000Z").progress.active_s
        == 3610
    )


def test_a_delivered_run_ends_with_its_branch():
    delivered = kinds.Delivered(branch="agentforge/t", commit="c1", tree="t1", applied=True)
    state = fold(START, delivered, kinds.RunFinished(outcome="delivered"))
    assert (state.progress.outcome, state.work.delivered) == (
        "delivered",
        {"branch": "agentforge/t", "commit": "c1", "tree": "t1", "applied": True},
    )


def test_events_without_a_meaning_for_the_state_move_only_its_time():
    state = fold(START)
    assert evolve(state, kinds.RunInterrupted(reason="x"), at=at(3)) == with_fields(state, last_at=at(3), active_s=3.0)


def test_the_time_before_a_damaged_log_was_opened_again_or_while_a_human_is_asked_does_not_count():
    recovered = kinds.LogRecovered(quarantined_bytes=1, quarantine="q")
    assert evolve(fold(START), recovered, at=at(30)).progress.active_s == 0
    asked = kinds.EscalationRaised(escalation_id="E1", stage="spec", kind="question", reason="r", question="Which?")
    waiting = fold(START, asked)
    assert waiting.progress.active_s == 1
    assert evolve(waiting, kinds.RunFinished(outcome="aborted"), at=at(3000)).progress.active_s == 1


def test_parts_of_a_file_are_shown_side_by_side_and_what_lies_within_another_part_is_dropped():
    def view(path: str, offset: int, limit: int | None) -> kinds.ToolFinished:
        shown = {"path": path, "offset": offset} | ({"limit": limit} if limit else {})
        return replace(finished(1), view=shown)

    parts = (view("a", 1, 50), view("a", 200, 50), view("b", 1, 10))
    state = fold(START, called(1), replied(1, "x"), *parts)
    assert [(path, part["offset"]) for path, part in state.progress.turn.views] == [("a", 1), ("a", 200), ("b", 1)]
    wider = fold(view("a", 150, 400), state=state, begin=9)
    assert [(path, part["offset"]) for path, part in wider.progress.turn.views] == [("a", 1), ("b", 1), ("a", 150)]
    whole = fold(view("a", 1, None), state=wider, begin=19)
    assert [(path, part.get("limit")) for path, part in whole.progress.turn.views] == [("b", 10), ("a", None)]


def test_a_measured_workspace_is_its_last_snapshot_and_the_base_line_is_not():
    base = kinds.FactsGathered(name="baseline", attempt=1, facts={}, tree="t0")
    red = kinds.FactsGathered(name="red", attempt=1, facts={}, tree="t1", evidence="e")
    assert fold(START, base).work.trees == {"baseline": "t0"}
    state = fold(START, base, red)
    assert (state.work.trees, state.work.evidence) == ({"baseline": "t0", "red": "t1", "work": "t1"}, {"red": "e"})


def asked(kind: str, decision: str, *, context: dict | None = None, text: str = "words") -> tuple[Event, Event]:
    raised = kinds.EscalationRaised(
        escalation_id="E1", stage="spec", kind=kind, reason="r", question="?", context=context or {}
    )  # type: ignore[arg-type]
    return raised, kinds.EscalationResolved(escalation_id="E1", decision=decision, text=text)  # type: ignore[arg-type]


SUBMITTED = (
    kinds.StageStarted(stage="spec", attempt=1),
    kinds.ArtifactSubmitted(stage="spec", attempt=1, draft={"d": 1}, by="model"),
)


def test_a_rejected_artifact_goes_back_with_the_reason_and_can_still_be_seen():
    state = fold(START, *SUBMITTED, verified("spec", passed=True), *asked("approval", "reject"))
    assert state.progress.stages["spec"].status == "failed"
    assert (state.review.verdict, state.review.submission, state.review.rejected) == (None, None, {"d": 1})
    again = fold(kinds.StageStarted(stage="spec", attempt=2), state=state, begin=9)
    assert ([item["message"] for item in again.review.findings], again.review.rejected) == (["words"], {"d": 1})


def test_a_refused_step_is_the_result_of_its_calls_and_no_finding():
    begun = fold(START, kinds.StageStarted(stage="spec", attempt=1), called(1, "spec"), replied(1, "edit"))
    state = fold(*asked("approval", "reject", context={"step": 1}), state=begun, begin=9)
    assert (state.progress.stages["spec"].status, state.review.findings, state.progress.turn.calls) == (
        "running",
        (),
        begun.progress.turn.calls,
    )


def test_a_question_refused_with_a_draft_at_hand_ends_the_attempt_and_without_one_it_does_not():
    assert fold(START, *SUBMITTED, *asked("question", "reject")).progress.stages["spec"].status == "failed"
    assert fold(START, SUBMITTED[0], *asked("question", "reject")).progress.stages["spec"].status == "running"


@pytest.mark.parametrize("decision", ["answer", "approve", "reject"])
def test_a_stage_that_was_stuck_after_a_failed_verdict_is_still_failed_once_it_is_answered(decision):
    state = fold(START, *SUBMITTED, verified("spec", passed=False), *asked("stuck", decision))
    assert state.progress.stages["spec"].status == "failed"


def test_an_answer_to_a_stuck_loop_gives_it_new_steps_and_any_other_answer_does_not():
    loop = fold(START, kinds.StageStarted(stage="spec", attempt=1), *step(1), *step(2))
    assert fold(*asked("stuck", "answer"), state=loop, begin=20).progress.turn.steps_in_attempt == 0
    assert fold(*asked("question", "answer"), state=loop, begin=20).progress.turn.steps_in_attempt == 2


def test_the_state_is_as_large_after_a_thousand_steps_as_after_five():
    def size(steps: int) -> int:
        events = [event for number in range(1, steps + 1) for event in step(1000 + number, path=f"f{number:04}.py")]
        state = RunState()
        for second, event in enumerate([START, kinds.StageStarted(stage="green", attempt=1), *events]):
            state = evolve(
                state, event, at=f"2025-12-31T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"
            )
        return len(repr(with_fields(state, totals=Totals(), active_s=0.0, stages={})))

    assert abs(size(1000) - size(30)) < 20


def test_what_a_command_made_of_a_file_the_model_has_not_seen():
    def changed_by(name, effect):
        asked = kinds.ModelCalled(
            step=1, stage="green", attempt=1, model="m", request="r", context_tokens=1, seen={"a.py": "old"}
        )
        begun = kinds.ToolStarted(step=1, index=0, call_id="c0", name=name, arguments={}, effect=effect)
        done = kinds.ToolFinished(
            step=1, index=0, call_id="c0", name=name, status="success", summary="s", changed={"a.py": "new"}
        )
        return fold(START, asked, replied(1, name), begun, done).progress.turn.seen

    assert changed_by("edit", "write") == {"a.py": "new"}
    assert changed_by("shell", "execute") == {"a.py": "old"}
