"""The run goes back by itself: a fact that only an earlier stage can repair opens that stage, once, with what was done."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from agentforge.events import kinds
from agentforge.events.state.attempt import Call, StageState
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.decide import decide
from agentforge.pipeline.facts.test_adequacy import reaching_nothing
from agentforge.pipeline.model.effects import Ask, Reopen, StartStage, SubmitKept
from agentforge.pipeline.model.revisits import attempts_allowed
from agentforge.pipeline.stages import load_stages
from tests.support.run_states import with_fields
from tests.support.stage_states import ARTIFACTS, asked, failed, fold

STAGES = load_stages()
TEST = "tests/test_slug.py::test_slug"
FACT = {"stage": "red", "rule": "types", "path": "tests/test_slug.py", "message": "line 3: str is not int"}


def measured(stage: str, *facts: dict[str, Any], **changes: Any) -> RunState:
    state = failed(stage, **changes)
    return with_fields(
        state,
        facts={**state.work.facts, stage: {"belongs_to": list(facts)}},
        rejected={"files_modified": []},
        trees={**state.work.trees, "red": "2" * 40, "green": "3" * 40},
    )


def reopened(state: RunState, effect: Any) -> RunState:
    event = kinds.StageReopened(
        stage=effect.stage, by=effect.by, reason=effect.reason, findings=effect.findings, undone=effect.undone,
        answer=effect.answer, escalation_id=effect.escalation_id, tree="1" * 40, keep=True,
    )  # fmt: skip
    return fold(event, state=state)


def test_a_fact_of_an_earlier_stage_opens_that_stage_with_the_finding() -> None:
    effect = decide(measured("green", FACT), STAGES)
    assert isinstance(effect, Reopen)
    assert (effect.stage, effect.by, effect.reason, effect.undone) == ("red", "green", "belongs_here", ("red", "green"))
    state = reopened(measured("green", FACT), effect)
    assert decide(state, STAGES) == StartStage(stage="red", attempt=2)
    begun = fold(kinds.StageStarted(stage="red", attempt=2, tree="4" * 40), state=state)
    assert [item["message"] for item in begun.review.findings] == [FACT["message"]]
    assert begun.review.rejected == ARTIFACTS["red"]  # what it had is where it begins
    assert begun.work.trees["work"] == "4" * 40


def test_a_requirement_whose_tests_reach_nothing_of_its_change_goes_back_to_the_tests() -> None:
    tests = [{"id": "tests/test_slug.py::test_a", "changes": []}]
    rows = [{"id": "REQ-001", "tests": tests, "touches": True}, {"id": "REQ-002", "tests": tests, "touches": False}]
    (fact,) = reaching_nothing({"requirements": rows})
    assert "REQ-002" in fact["message"]
    effect = decide(measured("green", fact), STAGES)
    assert isinstance(effect, Reopen)
    assert (effect.stage, [one["rule"] for one in effect.findings]) == ("red", ["mapping-executed"])  # type: ignore[call-overload,index]


def test_the_same_fact_goes_back_once_and_is_then_the_stages_own() -> None:
    state = measured("green", FACT)
    effect = decide(state, STAGES)
    seen = with_fields(measured("green", FACT, attempt=2), sent_back=reopened(state, effect).review.sent_back)
    assert decide(seen, STAGES) == StartStage(stage="green", attempt=3)
    other = {**FACT, "message": "line 9: another"}
    assert isinstance(decide(with_fields(seen, facts={"green": {"belongs_to": [FACT, other]}}), STAGES), Reopen)


def test_what_a_human_rejected_with_words_is_done_again_by_the_stage_that_the_words_are_for() -> None:
    rejected = ({"rule": "human", "passed": False, "message": "shorter, please", "path": ""},)
    state = with_fields(measured("green", FACT), findings=rejected)
    assert decide(state, STAGES) == StartStage(stage="green", attempt=2)


def test_of_several_stages_the_first_is_opened_and_supplied_tests_are_never_written() -> None:
    of_spec = {**FACT, "stage": "spec"}
    effect = decide(measured("green", FACT, of_spec), STAGES)
    assert isinstance(effect, Reopen)
    assert effect.stage == "spec"
    assert [item["stage"] for item in effect.findings] == ["spec"]  # type: ignore[index,call-overload]
    supplied = measured("green", FACT, tests=("tests/test_slug.py",))
    assert decide(supplied, STAGES) == StartStage(stage="green", attempt=2)


def asking(question: str = "the test forgets the colours", **facts: Any) -> RunState:
    """GREEN's model asks a human after its change was refused."""
    state = measured("green")
    found = {"suite": {"failing": [{"id": f"{TEST}[1]", "text": "no"}]}, "conformance": {"passed": True}, **facts}
    call = Call(call_id="c", name="ask_human", arguments=json.dumps({"question": question}))
    begun = fold(kinds.StageStarted(stage="green", attempt=2), state=state)
    turn = replace(begun.progress.turn, replied=True, calls=(call,))
    known = {**begun.work.facts, "green": found, "red": {"frozen": {TEST: "1"}}}
    return with_fields(begun, facts=known, turn=turn)


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"suite": {}, "tests_too_weak": [{"id": TEST, "text": "hollow"}]},
        {
            "suite": {},
            "held_out": {"failed": [f"{TEST} passes, but outside the test runner f(['']) == [''] does not hold"]},
        },
    ],
    ids=["fails", "hollow", "outside"],
)
def test_a_question_about_tests_that_alone_refuse_a_change_goes_to_the_stage_that_wrote_them(
    facts: dict[str, Any],
) -> None:
    effect = decide(asking(**facts), STAGES)
    assert isinstance(effect, Reopen)
    assert (effect.stage, effect.by, effect.reason, effect.undone) == ("red", "green", "belongs_here", ("red", "green"))
    (finding,) = effect.findings
    assert (finding["rule"], finding["path"]) == ("contested", "tests/test_slug.py")  # type: ignore[index,call-overload]
    assert TEST in finding["message"] and "the test forgets the colours" in finding["message"]  # type: ignore[index,call-overload]
    again = with_fields(asking("and once more", **facts), sent_back=reopened(asking(**facts), effect).review.sent_back)
    assert not isinstance(decide(again, STAGES), Reopen)  # a human reads what is asked of a test once more


def test_a_question_about_a_test_of_the_base_that_the_request_ends_goes_to_the_specification_once() -> None:
    lost = "tests/test_old.py::test_join_str"
    state = asking("test_join_str asserts what ask 6 takes away", regressions=[f"{lost}[1]"])
    effect = decide(state, STAGES)
    assert isinstance(effect, Reopen) and effect.stage == "spec", effect
    (finding,) = effect.findings
    assert (finding["rule"], finding["path"]) == ("contested", "tests/test_old.py")  # type: ignore[index,call-overload]
    again = with_fields(state, sent_back=reopened(state, effect).review.sent_back)
    assert not isinstance(decide(again, STAGES), Reopen)
    assert not isinstance(decide(asking("what now?", regressions=[lost]), STAGES), Reopen)


def test_of_two_tests_each_is_read_once_and_a_third_question_goes_to_a_human() -> None:
    other, third = "tests/test_slug.py::test_all", "tests/test_slug.py::test_more"
    first = asking()
    state = with_fields(
        asking(suite={}, flaky=[other]), sent_back=reopened(first, decide(first, STAGES)).review.sent_back
    )
    state = with_fields(state, facts={**state.work.facts, "red": {"frozen": {TEST: "1", other: "2", third: "3"}}})
    second = decide(state, STAGES)
    assert isinstance(second, Reopen) and other in second.findings[0]["message"]  # type: ignore[index,call-overload]
    last = with_fields(asking(suite={"failing": [{"id": third}]}), sent_back=reopened(state, second).review.sent_back)
    last = with_fields(last, facts={**last.work.facts, "red": {"frozen": {third: "3"}}})
    assert not isinstance(decide(last, STAGES), Reopen)


@pytest.mark.parametrize(
    "facts",
    [
        {"suite": {"failing": [{"id": "tests/test_slug.py::test_of_the_base", "text": "no"}]}},
        {"regressions": [TEST]},
        {"conformance": {"passed": False}},
        {"held_out": {"failed": ["outside the test runner slug('a') == 'b' does not hold"]}},
        {"suite": {}},
    ],
    ids=["of the base", "regression", "checks", "the request's", "nothing"],
)
def test_a_question_about_anything_else_goes_to_a_human(facts: dict[str, Any]) -> None:
    assert not isinstance(decide(asking(**facts), STAGES), Reopen)


def test_a_question_that_names_a_frozen_file_is_read_by_who_wrote_it_though_another_test_fails() -> None:
    regressed = {"regressions": ["tests/test_old.py::test_a"]}
    effect = decide(asking("tests/test_slug.py is loaded before tests/test_old.py and breaks it", **regressed), STAGES)
    assert isinstance(effect, Reopen)
    assert (effect.stage, effect.findings[0]["path"]) == ("red", "tests/test_slug.py")  # type: ignore[index,call-overload]
    for words in ("other/tests/test_slug.py breaks it", "tests/test_old.py is wrong"):
        assert not isinstance(decide(asking(words, **regressed), STAGES), Reopen)


def test_a_question_about_the_users_own_tests_goes_to_a_human() -> None:
    state = asking()
    supplied = replace(state, brief=replace(state.brief, tests=("tests/test_slug.py",)))
    assert not isinstance(decide(supplied, STAGES), Reopen)


def test_a_delivery_that_cannot_be_made_goes_to_the_stage_that_it_belongs_to() -> None:
    effect = decide(measured("deliver", {**FACT, "stage": "spec"}), STAGES)
    assert isinstance(effect, Reopen)
    assert effect.undone == ("spec", "red", "green", "refactor", "deliver")
    assert isinstance(decide(measured("deliver"), STAGES), Ask)


def opened_by_a_human(stage: str, *, work: str) -> RunState:
    """GREEN had a refused draft when a human opened an earlier stage again."""
    escalations = asked("green", decision="answer", reopen=stage, text="new")
    state = measured("green", escalations=escalations)
    effect = decide(state, STAGES)
    event = kinds.StageReopened(
        stage=stage, by="green", reason="answered", undone=effect.undone, answer="new", escalation_id="E1",  # type: ignore[union-attr]
        tree="1" * 40, keep=True, work=work,
    )  # fmt: skip
    return fold(
        event,
        state=with_fields(state, stages={**state.progress.stages, "green": StageState(status="failed", attempt=1)}),
    )


def green_again(state: RunState) -> RunState:
    """The tests are accepted once more, and GREEN begins."""
    done = {**state.progress.stages, "red": replace(state.progress.stages["red"], status="verified", attempt=2)}
    begun = with_fields(state, answers=(), stages=done, artifacts={**state.work.artifacts, "red": ARTIFACTS["red"]})
    return fold(kinds.StageStarted(stage="green", attempt=2), state=begun)


def test_code_that_was_under_way_is_measured_again_whoever_opened_the_tests() -> None:
    state = opened_by_a_human("red", work="5" * 40)
    assert state.review.kept["green"] == {
        "draft": {"files_modified": []}, "tree": "5" * 40, "before": "2" * 40, "work": "5" * 40, "lists_apart": False,
    }  # fmt: skip
    begun = green_again(state)
    assert decide(begun, STAGES) == SubmitKept(stage="green")
    handed_in = kinds.ArtifactSubmitted(stage="green", attempt=2, draft={}, by="harness")
    assert attempts_allowed(fold(handed_in, state=begun), "green", by_model=True) == 1 + begun.brief.limits.attempts + 1


def test_a_log_that_says_nothing_of_the_work_under_way_is_read_as_it_was() -> None:
    state = opened_by_a_human("red", work="")
    assert "green" not in state.review.kept
    assert decide(green_again(state), STAGES) != SubmitKept(stage="green")


def test_edits_without_a_draft_are_laid_back_too() -> None:
    state = with_fields(measured("green"), rejected=None)
    event = kinds.StageReopened(
        stage="red", by="green", reason="answered", undone=("red", "green"), tree="1" * 40, keep=True, work="5" * 40
    )
    (row,) = [fold(event, state=state).review.kept["green"]]
    assert (row["draft"], row["tree"]) == (None, "5" * 40)


def kept(stage: str, **changes: Any) -> RunState:
    """At the start of `stage`, after the specification was opened again and done."""
    state = measured("green", escalations=asked("green", kind="stuck", decision="answer", reopen="spec", text="new"))
    state = reopened(state, decide(state, STAGES))
    known = state.progress.stages[stage]
    begun = with_fields(state, answers=(), artifacts={**state.work.artifacts, "spec": {**ARTIFACTS["spec"], **changes}})
    return fold(kinds.StageStarted(stage=stage, attempt=known.attempt + 1), state=begun)


def test_tests_are_measured_again_as_they_stand_where_the_requirements_are_the_same() -> None:
    assert decide(kept("red", description="other words"), STAGES) == SubmitKept(stage="red")
    requirements = [{"id": "REQ-001", "acceptance_criteria": ["slugify('A b') == 'a_b'"]}]
    assert decide(kept("red", requirements=requirements), STAGES) != SubmitKept(stage="red")


@pytest.mark.parametrize(
    ("before", "now", "again"),
    [
        ("(text)", "(text) -> Slug", True),
        ("(text) -> str", "(text) -> Slug", True),
        ("(text)", "(text, limit) -> str", False),
    ],
)
def test_the_type_of_a_result_changes_no_test_and_a_parameter_does(before: str, now: str, again: bool) -> None:
    state = kept("red", symbols=[_symbol(now)])
    earlier = {**ARTIFACTS["spec"], "symbols": [_symbol(before)]}
    had = {
        "spec": {**state.review.kept["spec"], "draft": earlier},
        "red": {**state.review.kept["red"], "work": "5" * 40},
    }
    assert (decide(with_fields(state, kept=had), STAGES) == SubmitKept(stage="red")) is again


@pytest.mark.parametrize(
    ("more", "lists_apart", "again"),
    [
        ([{"file": "tests/test_text.py", "name": "test_old", "change": "changed"}], True, True),
        ([{"file": "textkit.py", "name": "LIMIT", "change": "new"}], True, True),
        ([{"file": "tests/test_text.py", "name": "test_old", "change": "changed"}], False, False),  # an older log
    ],
)
def test_what_is_only_listed_besides_changes_no_test(more: list[Any], lists_apart: bool, again: bool) -> None:
    state = kept("red", symbols=[_symbol("(text)"), *more])
    had = {
        "spec": {**state.review.kept["spec"], "draft": {**ARTIFACTS["spec"], "symbols": [_symbol("(text)")]}},
        "red": {**state.review.kept["red"], "work": "5" * 40, "lists_apart": lists_apart},
    }
    assert (decide(with_fields(state, kept=had), STAGES) == SubmitKept(stage="red")) is again


def test_a_symbol_that_is_no_longer_declared_is_the_models_to_look_at() -> None:
    state = kept("red", symbols=[])
    had = {
        "spec": {**state.review.kept["spec"], "draft": {**ARTIFACTS["spec"], "symbols": [_symbol("(text)")]}},
        "red": {**state.review.kept["red"], "work": "5" * 40, "lists_apart": True},
    }
    assert decide(with_fields(state, kept=had), STAGES) != SubmitKept(stage="red")


def _symbol(signature: str) -> dict[str, str]:
    return {"file": "textkit.py", "name": "slugify", "signature": signature, "change": "new"}


def test_what_is_measured_again_and_fails_is_the_models_to_repair() -> None:
    state = kept("red")
    refused = kinds.StageVerified(
        stage="red", attempt=2, passed=False, contract="test_suite", contract_digest="", artifact={}, artifact_digest="",
        results=({"rule": "holds", "passed": False, "message": "no"},),
    )  # fmt: skip
    again = fold(refused, kinds.StageStarted(stage="red", attempt=3), state=state)
    assert decide(again, STAGES) != SubmitKept(stage="red")


def test_words_that_no_model_has_read_go_along_to_the_stage_that_a_human_opens_again() -> None:
    def said(number: int, **values: Any) -> tuple[kinds.Event, ...]:
        raised = kinds.EscalationRaised(
            escalation_id=f"E{number}", stage="red", kind="stuck", reason="r", question=f"{number}?", choices=()
        )
        return raised, kinds.EscalationResolved(escalation_id=f"E{number}", decision="answer", **values)

    state = fold(*said(1, text="first words"), *said(2, text="other words", reopen="spec"), state=measured("red"))
    effect = decide(state, STAGES)
    assert isinstance(effect, Reopen)
    assert reopened(state, effect).people.answers == ("1? -> first words", effect.answer)
    reply = kinds.ModelReplied(step=1, text="", tool_calls=(), finish="stop", usage={}, model="m")
    read = fold(*said(1, text="first words"), reply, *said(2, text="other", reopen="spec"), state=measured("red"))
    assert reopened(read, decide(read, STAGES)).people.answers == ("2? -> other",)
