"""What a delivery rests on: one list of the readings that CLARIFY and SPEC took, and nothing that a human has overruled."""

from __future__ import annotations

from typing import Any

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.delivery.assumptions import assumptions
from tests.support.stage_states import ARTIFACTS, asked, before

JOINS = {"question": "What joins the words?", "answer": "a hyphen", "source": "assumption"}
CASE = {"question": "Which case?", "answer": "lower", "source": "human_escalation"}


def state(*questions: dict[str, Any], spec: tuple[dict[str, Any], ...] = (), **changes: Any) -> RunState:
    artifacts = {
        **ARTIFACTS,
        "clarify": {"questions": list(questions)},
        "spec": {**ARTIFACTS["spec"], "assumptions": list(spec)},
    }
    return before("deliver", artifacts=artifacts, **changes)


def lines(given: RunState) -> list[str]:
    return [one.line for one in assumptions(given)]


def test_only_what_nobody_settled_is_an_assumption() -> None:
    assert lines(state(JOINS, CASE)) == ["What joins the words? -> a hyphen"]
    of_spec = {"reading": "which case", "assumption": "upper"}
    assert lines(state(CASE, spec=(of_spec,))) == []


def test_what_both_stages_say_stands_there_once_and_another_reading_stands_first() -> None:
    same = {"reading": "what joins the words", "assumption": "a hyphen", "alternative": "'_', which gives 'a_b'"}
    other = {"reading": "How long?", "assumption": "any length"}
    assert lines(state(JOINS, spec=(other, same))) == [
        "what joins the words -> a hyphen (it could mean: '_', which gives 'a_b')",
        "How long? -> any length",
    ]


def test_the_readings_that_were_not_taken_are_the_alternative() -> None:
    readings = [
        {"reading": "a hyphen", "input": "f('a b')", "result": "'a-b'"},
        {"reading": "an underscore", "input": "f('a b')", "result": "'a_b'"},
    ]
    (line,) = lines(state({**JOINS, "readings": readings}))
    assert line.endswith("(it could mean: an underscore: f('a b') gives 'a_b')")


def test_what_a_humans_words_overruled_appears_nowhere() -> None:
    words = asked("green", kind="stuck", decision="answer", text="blanks join", reopen="spec")
    assert lines(state(JOINS, escalations=words)) == []
    kept = {"reading": "What joins the words?", "assumption": "a hyphen"}
    assert lines(state(JOINS, spec=(kept,), escalations=words)) == ["What joins the words? -> a hyphen"]
    refused = asked("spec", kind="approval", decision="reject", text="blanks join")
    assert lines(state(JOINS, escalations=refused)) == []
