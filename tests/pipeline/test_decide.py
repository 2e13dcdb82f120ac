"""What the pipeline does next, as tables: a state, and the effect that follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.agent.decide import CallModel, FinishStep
from agentforge.events.state.attempt import StageState
from agentforge.events.state.run_state import Limits, RunState, Totals
from agentforge.pipeline.engine.decide import decide
from agentforge.pipeline.model.effects import (
    Ask,
    Attest,
    Deliver,
    Finish,
    GatherFacts,
    Judge,
    MeasureBaseline,
    PassStage,
    SkipStage,
    StartStage,
    SubmitDraft,
)
from agentforge.pipeline.stages import ORDER, load_stages
from tests.support.run_states import with_fields
from tests.support.stage_states import asked, before, failed, inside, passed, replied, submitted

STAGES = load_stages()
BROKEN = {"baseline": {"measured": False, "problems": ("no module named x",), "attempt": 1}}
BLOCKING = {"question": "Which?", "impact": "blocking", "area": "names", "default": "a"}


def next_of(state: RunState) -> Any:
    return decide(state, STAGES)


def ambiguous(state: RunState, *items: dict[str, Any]) -> RunState:
    return with_fields(
        state,
        artifacts={
            **state.work.artifacts,
            "intake": {**state.work.artifacts["intake"], "identified_ambiguities": items},
        },
    )


def skipped(state: RunState, *names: str) -> RunState:
    return with_fields(
        state, stages={**state.progress.stages, **{name: StageState(status="skipped") for name in names}}
    )


def stuck(stage: str, *, attempt: int) -> Any:
    return asked(stage, kind="stuck", decision="answer", attempt=attempt)


# -- between the stages


@pytest.mark.parametrize("stage", ORDER)
def test_the_first_stage_that_is_not_done_is_started(stage: str) -> None:
    assert next_of(before(stage)) == StartStage(stage=stage, attempt=1)


@pytest.mark.parametrize(
    ("state", "effect"),
    [
        (RunState(), StartStage(stage="intake", attempt=1)),
        (before("spec", action="analyze"), SkipStage(stage="spec", reason="not needed for action analyze")),
        (skipped(before("spec", action="analyze"), *ORDER[3:]), Finish(outcome="analyzed")),
        (before("end"), Deliver()),
        (before("end", delivered={"branch": "b"}), Attest()),
        (before("end", delivered={"branch": "b"}, attested={"envelopes": "e"}), Finish(outcome="delivered")),
        (before("end", outcome="delivered"), None),
        (before("red", escalations=asked("spec")), None),
        (before("red", escalations=asked("spec", decision="answer")), StartStage(stage="red", attempt=1)),
        (
            before("red", escalations=asked("spec", decision="abort")),
            Finish(outcome="aborted", slug="aborted", message="a human aborted the run"),
        ),
        (
            before("red", escalations={**asked("spec", decision="abort"), **asked("red", number=2)}),
            Finish(outcome="aborted", slug="aborted", message="a human aborted the run"),
        ),
    ],
)
def test_between_stages(state: RunState, effect: Any) -> None:
    assert next_of(state) == effect


@pytest.mark.parametrize(
    ("state", "effect"),
    [
        (before("analyze", facts={}), MeasureBaseline(attempt=1)),
        (before("analyze", facts=BROKEN, action="analyze"), StartStage(stage="analyze", attempt=1)),
        (
            before(
                "analyze", facts=BROKEN, escalations=asked("analyze", kind="stuck", decision="answer", text="again")
            ),
            MeasureBaseline(attempt=2),
        ),
        (before("clarify", facts={}), StartStage(stage="clarify", attempt=1)),
    ],
)
def test_the_base_line_is_measured_before_the_code_is_looked_at(state: RunState, effect: Any) -> None:
    assert next_of(state) == effect


def test_a_base_line_that_cannot_be_measured_is_a_humans_to_repair() -> None:
    effect = next_of(before("analyze", facts=BROKEN))
    assert isinstance(effect, Ask)
    assert (effect.stage, effect.kind, effect.options) == ("analyze", "stuck", ("again",))
    assert "no module named x" in effect.reason
    cause = {"text": "no module named x", "files": ["tests/test_a.py"], "file_count": 1}
    known = {"baseline": {**BROKEN["baseline"], "problems": ["no module named x"], "causes": [cause]}}
    assert next_of(before("analyze", facts=known)).reason.count("no module named x") == 1
    late = {"baseline": {"measured": False, "attempt": 1, "timed_out": True}}
    assert "did not end in time" in next_of(before("analyze", facts=late)).reason


def test_a_base_line_that_fails_again_is_asked_about_again() -> None:
    answered = asked("analyze", kind="stuck", decision="answer", text="again")
    facts = {"baseline": {"measured": False, "attempt": 2}}
    assert isinstance(next_of(before("analyze", facts=facts, escalations=answered)), Ask)


# -- inside of a stage


@pytest.mark.parametrize(
    ("state", "effect"),
    [
        (inside("spec"), CallModel(step=1)),
        (inside("clarify"), SubmitDraft(stage="clarify")),
        (inside("deliver"), SubmitDraft(stage="deliver")),
        (inside("refactor"), SubmitDraft(stage="refactor")),
        (inside("red"), CallModel(step=1)),
        (inside("red", tests=("tests/test_x.py",)), SubmitDraft(stage="red")),
        (ambiguous(inside("clarify"), BLOCKING), CallModel(step=1)),
        (submitted("spec"), GatherFacts(stage="spec")),
        (submitted("spec", facts_of_draft={}), Judge(stage="spec")),
        (replied(submitted("spec")), FinishStep(step=1)),
        (replied(failed("spec")), FinishStep(step=1)),
        (passed("spec"), PassStage(stage="spec")),
        (failed("spec", attempt=1), StartStage(stage="spec", attempt=2)),
        (failed("refactor", attempt=1), StartStage(stage="refactor", attempt=2)),
        (failed("clarify", attempt=1), StartStage(stage="clarify", attempt=2)),
    ],
)
def test_inside_a_stage(state: RunState, effect: Any) -> None:
    assert next_of(state) == effect


def test_a_limit_or_a_stuck_loop_becomes_a_question_of_its_kind() -> None:
    effect = next_of(inside("spec", totals=Totals(steps=200)))
    assert (effect.kind, effect.stage, effect.context) == ("limit", "spec", ())


def test_a_step_that_waits_for_approval_says_which_step_it_is() -> None:
    from agentforge.events.state.attempt import Call, Turn

    turn = Turn(step=7, replied=True, calls=(Call(call_id="c", name="edit", arguments="{}"),))
    effect = next_of(inside("green", mode="interactive", turn=turn))
    assert (effect.kind, effect.context) == ("approval", (("step", 7),))


# -- failures, attempts, rejections


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        (failed("spec", attempt=5), Ask),
        (failed("spec", attempt=5, limits=Limits(attempts=6)), StartStage),
        (failed("spec", attempt=5, escalations=stuck("spec", attempt=5)), StartStage),
        (failed("spec", attempt=9, escalations=stuck("spec", attempt=5)), StartStage),
        (failed("spec", attempt=10, escalations=stuck("spec", attempt=5)), Ask),
        (failed("spec", attempt=5, escalations=asked("spec", kind="stuck", decision="answer")), Ask),
        (failed("spec", attempt=5, rule="human"), StartStage),
        (failed("red", attempt=1, tests=("tests/t.py",)), Ask),
        (failed("red", attempt=1, tests=("tests/t.py",), escalations=stuck("red", attempt=1)), StartStage),
        (failed("red", attempt=2, tests=("tests/t.py",), escalations=stuck("red", attempt=1)), Ask),
        (failed("red", attempt=1, tests=("tests/t.py",), rule="human"), Ask),
        (failed("deliver", attempt=1), Ask),
    ],
)
def test_attempts_end_in_a_question_and_answers_give_new_ones(state: RunState, kind: type) -> None:
    effect = next_of(state)
    assert isinstance(effect, kind)
    if isinstance(effect, Ask):
        assert (effect.kind, "- no" in effect.question) == ("stuck", True)


@pytest.mark.parametrize("attempts", [1, 5])
def test_what_a_human_rejects_at_delivery_goes_back_to_refactor(attempts: int) -> None:
    state = failed("deliver", attempt=1, rule="human", limits=Limits(attempts=attempts))
    assert next_of(state) == StartStage(stage="refactor", attempt=2)


# -- questions and approvals


def test_the_questions_of_a_draft_are_asked_one_by_one_before_it_is_judged() -> None:
    other = {**BLOCKING, "question": "How?"}
    state = ambiguous(submitted("clarify", facts_of_draft={}), BLOCKING, other)
    first = next_of(state)
    assert (first.kind, first.question, first.options, dict(first.context)) == (
        "question", "Which?", ("a",), {"key": "Which?"},
    )  # fmt: skip
    answered = asked("clarify", decision="answer", text="b", key="Which?")
    assert next_of(with_fields(state, escalations=answered)).question == "How?"
    both = {**answered, **asked("clarify", decision="reject", number=2, key="How?")}
    assert next_of(with_fields(state, escalations=both)) == Judge(stage="clarify")


@pytest.mark.parametrize(
    ("changes", "asks"),
    [
        ({}, False),
        ({"approve": ("green",)}, False),
        ({"approve": ("spec",)}, True),
        ({"mode": "supervised"}, True),
        ({"mode": "interactive"}, True),
    ],
)
def test_a_verified_artifact_waits_for_approval_where_that_is_wanted(changes: dict[str, Any], asks: bool) -> None:
    effect = next_of(passed("spec", **changes))
    assert isinstance(effect, Ask if asks else PassStage)
    if asks:
        assert (effect.kind, effect.options) == ("approval", ("approve", "reject"))
        assert dict(effect.context) == {"key": "approve:d1", "artifact_digest": "d1"}


@pytest.mark.parametrize(
    ("escalations", "kind"),
    [
        (asked("spec", kind="approval", decision="approve", key="approve:d1"), PassStage),
        (asked("spec", kind="approval", decision="answer", key="approve:d1"), PassStage),
        (asked("spec", kind="approval", decision="reject", key="approve:d1"), Ask),
        (asked("spec", kind="approval", decision="approve", key="approve:d0"), Ask),
        (asked("red", kind="approval", decision="approve", key="approve:d1"), Ask),
        (
            {
                **asked("spec", kind="approval", decision="reject", key="approve:d1"),
                **asked("spec", kind="approval", decision="approve", key="approve:d1", number=2),
            },
            PassStage,
        ),
    ],
)
def test_an_approval_holds_for_the_very_artifact_that_was_shown(escalations: Any, kind: type) -> None:
    assert isinstance(next_of(passed("spec", approve=("spec",), escalations=escalations)), kind)


def test_one_of_several_attempts_waits_for_no_approval_because_the_chosen_one_does() -> None:
    assert next_of(passed("green", approve=("green",), candidate=1)) == PassStage(stage="green")


def test_an_answer_that_opened_an_earlier_stage_approved_nothing() -> None:
    back = asked("spec", kind="approval", decision="answer", key="approve:d1", reopen="analyze")
    again = passed("spec", approve=("spec",), escalations=back, went_back=("E1",))
    assert isinstance(next_of(again), Ask)
