"""The road back to RED, from the state alone."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.agent.decide import Stop
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.attempt import StageState, Submission, Verdict
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.decide import decide
from agentforge.pipeline.engine.stage_agent import refusal_of
from agentforge.pipeline.facts.test_adequacy import by_one_alone
from agentforge.pipeline.model.effects import Ask, EndReopening, PassStage, Reopen, StartStage
from agentforge.pipeline.model.revisits import ending
from agentforge.pipeline.stages import load_stages
from tests.support.run_states import run_state, with_fields

STAGES = load_stages()
AT = "2026-01-02T03:04:05Z"
FINDING = {"rule": "survivor", "path": "a.py", "message": "M1: the tests do not notice a.py:3: a < b -> a <= b"}
DRAFT = {"files_modified": [{"path": "a.py"}]}


def verified(**told: Any) -> RunState:
    """GREEN was just verified, with tests that are too weak."""
    weak = {"findings": [FINDING], "returns": 1, "ask": False, **told}
    verdict = Verdict(passed=True, attempt=1, results=(), artifact={}, artifact_digest="d")
    done = {name: StageState(status="verified", attempt=1) for name in ("intake", "clarify", "analyze", "spec", "red")}
    return run_state(
        stage="green",
        stages={**done, "green": StageState(status="running", attempt=1)},
        verdict=verdict,
        submission=Submission(draft=DRAFT, by="model", facts={}, tree="t2"),
        artifacts={"intake": {"extracted_intent": {"action": "create"}}},
        facts={"green": {"weak_tests": weak, "tree": "t2"}, "red": {"frozen_files": {"t.py": "h"}}, "impact": {}},
        trees={"red": "t1", "green": "t2", "baseline": "t0"},
        evidence={"red": "e1"},
    )


def after(state: RunState, *events: kinds.Event) -> RunState:
    for event in events:
        state = evolve(state, event, at=AT)
    return state


def reopened(state: RunState) -> RunState:
    return after(state, kinds.StageReopened(stage="red", by="green", reason="tests_too_weak", findings=(FINDING,)))


def test_weak_tests_open_red_again() -> None:
    assert decide(verified(), STAGES) == Reopen(stage="red", by="green", reason="tests_too_weak", findings=(FINDING,))


def test_who_writes_into_an_accepted_test_file_is_told_to_write_a_new_one() -> None:
    refusal = refusal_of(reopened(verified()), STAGES["red"])
    assert "new test file" in str(refusal("t.py")) and refusal("test_more.py") is None


@pytest.mark.parametrize(
    ("run", "survivors", "alone"),
    [(2, 1, True), (4, 1, True), (1, 1, False), (5, 1, False), (4, 2, False), (3, 0, False)],
)
def test_one_survivor_of_very_few_mutants_sends_nothing_back(run: int, survivors: int, alone: bool) -> None:
    assert by_one_alone({"run": run, "survivors": [{"id": f"M{n}"} for n in range(survivors)]}) is alone


def test_strong_tests_pass_on() -> None:
    assert decide(verified(findings=[]), STAGES) == PassStage(stage="green")


def test_no_return_is_left_and_the_users_own_tests_are_never_added_to() -> None:
    assert decide(verified(returns=0), STAGES) == PassStage(stage="green")
    assert decide(with_fields(verified(), tests=("t.py",)), STAGES) == PassStage(stage="green")


def test_a_human_is_asked_where_the_settings_say_so() -> None:
    effect = decide(verified(returns=0, ask=True), STAGES)
    assert isinstance(effect, Ask)
    assert "a < b -> a <= b" in effect.question


def test_red_starts_again_with_the_findings_and_then_green_is_verified_without_a_model() -> None:
    state = reopened(verified())
    assert decide(state, STAGES) == StartStage(stage="red", attempt=2)
    state = after(state, kinds.StageStarted(stage="red", attempt=2))
    assert state.review.findings == (FINDING,)
    state = after(state, kinds.StagePassed(stage="red", artifact_digest="d2"))
    assert state.review.reopened is not None and not state.review.reopened.open
    assert decide(state, STAGES) == StartStage(stage="green", attempt=2)
    state = after(state, kinds.StageStarted(stage="green", attempt=2))
    assert not STAGES["green"].needs_model(state)
    assert STAGES["green"].draft(state) == DRAFT
    assert STAGES["green"].needs_model(with_fields(state, findings=(FINDING,)))


def test_what_leads_nowhere_is_left_and_leaves_what_had_passed() -> None:
    started = after(reopened(verified()), kinds.StageStarted(stage="red", attempt=2))
    measured = kinds.FactsGathered(name="red", attempt=2, facts={"other": 1}, tree="t9", evidence="e9", work="t8")
    failed = kinds.StageVerified(
        stage="red", attempt=2, passed=False, contract="c", contract_digest="d", artifact={}, artifact_digest="d",
        results=({"rule": "x", "passed": False},),
    )  # fmt: skip
    once = after(started, measured, failed)
    assert once.work.trees["work"] == "t8"
    assert decide(once, STAGES) == StartStage(stage="red", attempt=3)
    twice = after(once, kinds.StageStarted(stage="red", attempt=3), failed)
    effect = decide(twice, STAGES)
    assert isinstance(effect, EndReopening)
    ended = after(twice, kinds.ReopeningEnded(stage="red", reason=effect.reason))
    assert ended.work.facts["red"] == {"frozen_files": {"t.py": "h"}}
    assert (ended.work.trees["red"], ended.work.trees["work"], ended.work.evidence["red"]) == ("t1", "t2", "e1")
    assert decide(ended, STAGES) == StartStage(stage="green", attempt=2)


def test_a_limit_or_a_model_that_fails_ends_the_road_and_not_the_run() -> None:
    started = after(reopened(verified()), kinds.StageStarted(stage="red", attempt=2))
    stop = Stop(kind="limit", reason="no tokens left", question="?")
    assert ending(started, stop) == EndReopening(stage="red", reason="no tokens left")
    failed = after(started, kinds.ModelFailed(step=9, slug="model-unavailable", message="503"))
    assert isinstance(decide(failed, STAGES), EndReopening)
    assert ending(started, Stop(kind="approval", reason="r", question="?")) is None
    assert ending(verified(), stop) is None
