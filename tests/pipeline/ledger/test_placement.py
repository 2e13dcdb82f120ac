"""What has become of the asks, what a human is asked about them, and what follows from the answers."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.ledger.entries import ledger_rows
from agentforge.pipeline.ledger.placement import DO_IT, LEAVE_IT, left_out, questions, standing_examples
from agentforge.pipeline.ledger.promises import ALONE, NOT_ALONE, doubtful, undecided_examples
from agentforge.pipeline.ledger.shown import ask_lines, asked_text, left_to_see
from agentforge.pipeline.model.effects import Ask
from agentforge.pipeline.model.rollback import going_back
from agentforge.pipeline.stages import load_stages
from tests.support.run_states import with_fields
from tests.support.stage_states import ARTIFACTS, INTAKE, asked, fold, inside, submitted

_REQUEST = "Add slugify. It must hold: slugify('A b') -> 'a-b'. Names of 20 letters are cut. We like it."
_ORDER = tuple(load_stages())


def _with_ledger(state: RunState, asks: Any = None) -> RunState:
    intake = {**INTAKE, "asks": ledger_rows(_REQUEST)}
    spec = {"spec": {**ARTIFACTS["spec"], "asks": asks}} if asks is not None else {}
    return with_fields(state, request=_REQUEST, artifacts={**state.work.artifacts, "intake": intake, **spec})


def _draft(third: Any) -> RunState:
    asks = {"1-2": ["REQ-001"], "3": third, "4": "context"}
    return _with_ledger(submitted("spec", {**ARTIFACTS["spec"], "asks": asks}))


def test_only_what_is_not_done_or_exact_and_without_a_place_is_asked_about() -> None:
    assert questions(_draft(["REQ-001"])) == ()
    (not_done,) = questions(_draft("not_done: too hard"))
    assert "Names of 20 letters are cut." in not_done.text and "too hard" in not_done.text
    assert [choice.label for choice in not_done.choices] == [DO_IT, LEAVE_IT, "in your words"]
    assert questions(_draft(None)) == ()  # the model hears of it first
    (unsaid,) = questions(with_fields(_draft(None), findings=({"rule": "asks-placed"},)))
    assert "It does not say why" in unsaid.text


def test_an_answer_settles_the_ask_and_a_wish_is_asked_about_again() -> None:
    left = asked("spec", decision="answer", text=LEAVE_IT, ask=3)
    state = with_fields(_draft("not_done: too hard"), escalations=left)
    assert (questions(state), left_out(state)) == ((), {3})
    wanted = asked("spec", decision="answer", text=DO_IT, ask=3)
    (again,) = questions(with_fields(_draft("not_done: too hard"), escalations=wanted))
    assert again.key == "ask:3:1"
    twice = {**wanted, **asked("spec", decision="answer", text=DO_IT, number=2, ask=3)}
    (last,) = questions(with_fields(_draft("not_done: too hard"), escalations=twice))
    assert last.choices[0].label == LEAVE_IT


def test_the_answers_to_two_parts_reach_the_specification_together() -> None:
    back = {"stage": "spec", "unless": LEAVE_IT}
    both = {
        **asked("spec", decision="answer", text=DO_IT, number=1, reopens=back),
        **asked("spec", decision="answer", text="as tables", number=2, reopens=back),
        **asked("spec", decision="answer", text=LEAVE_IT, number=3, reopens=back),
    }
    state = with_fields(_draft("not_done: too hard"), escalations=both)
    for _ in range(2):
        effect = going_back(state, _ORDER)
        assert effect is not None and (effect.stage, effect.by) == ("spec", "spec")
        event = kinds.StageReopened(
            stage="spec", by="spec", reason="answered", undone=effect.undone, answer=effect.answer,
            escalation_id=effect.escalation_id, tree="1" * 40, keep=True,
        )  # fmt: skip
        state = fold(event, state=state)
    assert going_back(state, _ORDER) is None
    assert [DO_IT in state.people.answers[0], "as tables" in state.people.answers[1]] == [True, True]
    assert state.review.kept["spec"]["draft"]["asks"]["3"] == "not_done: too hard"


def test_the_examples_of_what_a_human_left_out_count_no_more() -> None:
    state = _with_ledger(inside("red"), {"1": ["REQ-001"], "2": "not_done: x", "3": ["REQ-002"], "4": "context"})
    assert standing_examples(state) == ["slugify('A b') -> 'a-b'"]
    gone = with_fields(state, escalations=asked("spec", decision="answer", text=LEAVE_IT, ask=2))
    assert standing_examples(gone) == []


def test_later_stages_see_the_words_of_the_request_and_people_what_has_no_place() -> None:
    state = _with_ledger(inside("red"), {"1": ["REQ-001"], "2": ["REQ-001"], "3": "context", "4": "unsaid"})
    assert asked_text(state) == "- REQ-001: Add slugify.\n- REQ-001: It must hold: slugify('A b') -> 'a-b'."
    assert asked_text(state, above="REQ-001: Add\n slugify.") == "- REQ-001: It must hold: slugify('A b') -> 'a-b'."
    told = dict(left_to_see(state))
    assert ["20 letters" in one for one in told] == [True, False]
    assert [one.split(" -> ")[-1].partition(" <-")[0] for one in ask_lines(state)][2:] == [
        "context", "nobody says what becomes of it; it counts as not done",
    ]  # fmt: skip


def test_nothing_counts_as_not_done_before_there_is_a_specification() -> None:
    state = _with_ledger(with_fields(inside("clarify"), artifacts={}))
    assert (list(left_to_see(state)), ask_lines(state)) == ([], [])


def test_a_broken_example_is_asked_about_once_and_only_where_there_is_a_ledger() -> None:
    facts = {"green": {"held_out": {"complaints": [{"call": "f(1)", "text": "f(1) -> 2; it is 3 now"}]}}}
    plain = inside("green", facts=facts)
    assert undecided_examples(plain) == []
    state = _with_ledger(plain)
    assert doubtful(state, undecided_examples(state), stage="green") is not None
    settled = with_fields(state, escalations=asked("green", decision="answer", text="it must stay", stated="f(1)"))
    assert undecided_examples(settled) == []


@pytest.mark.parametrize("examiner", [{}, {"model": ""}], ids=["no examiner", "nothing to examine"])
def test_what_a_later_stage_breaks_is_asked_about_before_the_delivery(examiner: dict[str, Any]) -> None:
    row = {"call": "f(2)", "text": "f(2) -> 3; it is 4 now", "before": "", "beside": ["open(1)"]}
    facts = {"green": {"held_out": {}}, "refactor": {"held_out": {"conditional": [row]}}}
    state = with_fields(_with_ledger(inside("deliver", facts=facts)), examiner=examiner)
    (begin,) = load_stages()["deliver"].begins_with
    wanted = begin(state, _ORDER)
    assert isinstance(wanted, Ask) and (wanted.stage, "open(1)" in wanted.question) == ("deliver", True)
    settled = with_fields(state, escalations=asked("deliver", decision="answer", text=NOT_ALONE, stated="f(2)"))
    assert begin(settled, _ORDER) is None


def test_an_example_that_fails_by_itself_is_shown_with_what_stands_beside_it() -> None:
    row = {"call": "f(2)", "text": "f(2) -> 3; it is 4 now", "before": "", "beside": ["open(1)"]}
    state = _with_ledger(inside("green", facts={"green": {"held_out": {"conditional": [row]}}}))
    wanted = doubtful(state, undecided_examples(state), stage="deliver")
    assert wanted is not None and (wanted.stage, "open(1)" in wanted.question) == ("deliver", True)
    assert [choice.label for choice in wanted.choices] == [NOT_ALONE, ALONE]
