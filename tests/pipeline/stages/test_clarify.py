"""Open questions by impact, mode and evidence: who settles them, and how the answer is recorded."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.events.state.attempt import Submission
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.stages.clarify import STAGE, complete, draft, needs_model, questions
from tests.support.run_states import with_fields
from tests.support.stage_states import asked, inside

PROVED = {
    "question": "Which case?", "source": "agent_inference", "answer": "lower", "confidence": 0.9,
    "evidence": [{"file": "a.py", "snippet": "lower()"}],
}  # fmt: skip
TRUE = ({"question": "Which case?", "file": "a.py", "ok": True, "reason": ""},)
FALSE = ({"question": "Which case?", "file": "a.py", "ok": False, "reason": "no such file"},)
GUESS = {"question": "Which case?", "source": "assumption", "answer": "lower"}
ASKS = {"question": "Which case?", "source": "human_escalation", "answer": ""}


def state(*impacts: str, answers: Any = (), evidence: Any = (), mode: str = "autonomous", **changes: Any) -> RunState:
    names = ("Which case?", "Which sign?", "Which name?")
    open_questions = [
        {"question": name, "impact": impact, "area": "text", "default": "as is"}
        for name, impact in zip(names, impacts, strict=False)
    ]
    base = inside("clarify", mode=mode)
    return with_fields(
        base,
        artifacts={"intake": {**base.work.artifacts["intake"], "identified_ambiguities": open_questions}},
        submission=Submission(draft={"questions": list(answers)}, by="model", facts={"evidence": list(evidence)}),
        **changes,
    )


@pytest.mark.parametrize(
    ("impacts", "needed"), [((), False), (("minor",), False), (("minor", "significant"), True), (("blocking",), True)]
)
def test_a_model_searches_only_for_questions_of_some_weight(impacts: tuple[str, ...], needed: bool) -> None:
    assert needs_model(state(*impacts)) is needed


def test_a_draft_that_was_refused_is_written_by_the_model() -> None:
    assert needs_model(state("minor", findings=({"rule": "x"},)))


def test_minor_questions_take_their_default() -> None:
    (row,) = draft(state("minor"))["questions"]  # type: ignore[misc]
    assert (row["source"], row["answer"], row["impact"]) == ("assumption", "as is", "minor")


@pytest.mark.parametrize(
    ("impact", "answer", "evidence", "modes"),
    [
        ("minor", GUESS, (), ("interactive",)),
        ("minor", {}, (), ("interactive",)),
        ("minor", ASKS, (), ("autonomous", "supervised", "interactive")),
        ("minor", PROVED, TRUE, ()),
        ("significant", GUESS, (), ("supervised", "interactive")),
        ("significant", PROVED, TRUE, ()),
        ("significant", PROVED, FALSE, ("supervised", "interactive")),
        ("significant", PROVED, (*TRUE, *FALSE), ("supervised", "interactive")),
        ("significant", ASKS, (), ("autonomous", "supervised", "interactive")),
        ("blocking", GUESS, (), ("autonomous", "supervised", "interactive")),
        ("blocking", PROVED, (), ("autonomous", "supervised", "interactive")),
        ("blocking", PROVED, FALSE, ("autonomous", "supervised", "interactive")),
        ("blocking", PROVED, TRUE, ()),
        ("blocking", {**GUESS, "evidence": PROVED["evidence"]}, TRUE, ("autonomous", "supervised", "interactive")),
    ],
)
def test_a_human_is_asked_by_impact_mode_and_checked_evidence(
    impact: str, answer: dict[str, Any], evidence: Any, modes: tuple[str, ...]
) -> None:
    asking = [
        mode
        for mode in ("autonomous", "supervised", "interactive")
        if questions(state(impact, answers=[answer], evidence=evidence, mode=mode))
    ]
    assert asking == list(modes)


def test_a_question_names_itself_its_weight_and_its_default() -> None:
    (question,) = questions(state("blocking", answers=[GUESS]))
    assert (question.key, question.text, question.options) == ("Which case?", "Which case?", ("as is",))
    assert question.reason.startswith("blocking ambiguity in text")


def answer_of(given: RunState) -> dict[str, Any]:
    assert given.review.submission is not None
    (row,) = complete(given, given.review.submission.draft, given.review.submission.facts or {})["questions"]  # type: ignore[misc]
    return row


def test_checked_evidence_makes_an_inference_and_unchecked_an_assumption() -> None:
    assert answer_of(state("blocking", answers=[PROVED], evidence=TRUE)) == {**PROVED, "impact": "blocking"}
    row = answer_of(state("significant", answers=[PROVED], evidence=FALSE))
    assert (row["source"], row["answer"], "evidence" in row) == ("assumption", "lower", False)


def test_a_human_answer_wins_and_says_whose_it_is() -> None:
    answered = asked("clarify", decision="answer", text="upper", key="Which case?")
    row = answer_of(state("blocking", answers=[PROVED], evidence=TRUE, escalations=answered))
    assert (row["source"], row["answer"], row["resolved_by"]) == ("human_escalation", "upper", "user")
    assert row["resolved_at"] == "2026-01-01T01:00:00Z"


def test_an_approval_without_words_takes_the_default() -> None:
    approved = asked("clarify", decision="approve", key="Which case?")
    assert answer_of(state("blocking", escalations=approved))["answer"] == "as is"


def test_the_model_cannot_write_who_answered() -> None:
    forged = {**PROVED, "resolved_by": "the president", "resolved_at": "now"}
    assert not {"resolved_by", "resolved_at"} & set(answer_of(state("blocking", answers=[forged], evidence=TRUE)))


def test_an_answer_is_found_by_its_question_else_by_its_place_and_never_used_for_another() -> None:
    def answers(*given: dict[str, Any]) -> list[str]:
        made = state("significant", "significant", answers=given)
        assert made.review.submission is not None
        return [row["answer"] for row in complete(made, made.review.submission.draft, {})["questions"]]  # type: ignore[attr-defined]

    one = {"question": "which  CASE?", "source": "assumption", "answer": "one"}
    two = {"question": "Which sign?", "source": "assumption", "answer": "two"}
    odd = {"question": "What about case?", "source": "assumption", "answer": "odd"}
    assert answers(one, two) == ["one", "two"]
    assert answers(two, one) == ["one", "two"]
    assert answers(odd, two) == ["odd", "two"]
    assert answers(two) == ["as is", "two"]
    assert answers() == ["as is", "as is"]


def test_the_stage_asks_no_field_of_the_harness_from_the_model() -> None:
    assert {"questions.resolved_by", "questions.resolved_at"} <= set(STAGE.omit)


def two_readings(*, mode: str = "autonomous", request: str = "", **reading: Any) -> RunState:
    told = [
        {"reading": "blanks go", "input": "f('a  b')", "result": "'a-b'", **reading},
        {"reading": "each blank counts", "input": "f('a  b')", "result": "'a--b'"},
    ]
    item = {
        "question": "Which case?",
        "impact": "significant",
        "area": "text",
        "default": "blanks go",
        "readings": told,
    }
    base = state("significant", answers=[GUESS], mode=mode)
    intake = {**base.work.artifacts["intake"], "identified_ambiguities": [item]}
    return with_fields(base, request=request, artifacts={**base.work.artifacts, "intake": intake})


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (two_readings(request="f('a  b') shall work"), ""),
        (two_readings(request="make f('a  b') give 'a--b'"), "the request itself states one of the results"),
        (two_readings(request="make it a slug"), "no input on which the readings differ stands in the request"),
        (two_readings(request="f('a  b')", result="'a--b'"), "no two readings were found that give different results"),
        (two_readings(mode="supervised"), ""),
    ],
)
def test_a_human_is_asked_where_the_request_names_an_input_on_which_its_readings_differ(
    given: RunState, why: str
) -> None:
    asking = questions(given)
    assert bool(asking) is not bool(why)
    if asking:
        assert asking[0].options == ("blanks go: f('a  b') gives 'a-b'", "each blank counts: f('a  b') gives 'a--b'")
        return
    row = answer_of(given)
    assert row["source"] == "assumption" and row["note"].startswith(why)
    assert len(row["readings"]) == 2


def test_who_has_the_clarification_done_again_is_asked_what_had_been_assumed() -> None:
    words = asked("spec", kind="stuck", decision="answer", text="bytes count, not letters", reopen="clarify")
    given = state("minor", "significant", answers=[PROVED], evidence=TRUE, escalations=words)
    assert [question.key for question in questions(given)] == ["Which sign?"]  # the other is settled by the code
    assert given.review.submission is not None
    rows: Any = complete(given, given.review.submission.draft, given.review.submission.facts or {})["questions"]
    assert (rows[-1]["source"], rows[-1]["answer"]) == ("human_escalation", "bytes count, not letters")
    assert rows[-1]["resolved_by"] == "user"
