"""Examples of request and specification: which are checks, which are shown, which are held out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentforge.events.kinds import EscalationResolved
from agentforge.events.state.run_state import Escalation
from agentforge.pipeline.engine.decide import decide
from agentforge.pipeline.facts.held_out import claims_of, shown_examples, split_facts
from agentforge.pipeline.ledger.entries import ledger_rows
from agentforge.pipeline.ledger.promises import undecided_examples
from agentforge.pipeline.model.effects import Ask
from agentforge.pipeline.stages import load_stages
from tests.support.run_states import with_fields
from tests.support.stage_states import SPEC, before, failed

EXAMPLES = [
    {"requirement": "REQ-001", "call": "slugify('A b')", "returns": "'a-b'"},
    {"requirement": "REQ-002", "call": "slugify('Xx Yy')", "returns": "'xx-yy'"},
    {"requirement": "REQ-002", "call": "slugify('Q  r')", "returns": "'q-r'"},
    {"requirement": "REQ-002", "call": "slugify(3)", "raises": "TypeError"},
]


def _split(examples: list[dict[str, str]], **changes: Any) -> Any:
    return split_facts(before("spec", **changes), {**SPEC, "examples": examples})


def test_half_of_what_nobody_can_read_elsewhere_is_held_out_by_a_recorded_seed() -> None:
    first, again = _split(EXAMPLES), _split(EXAMPLES)
    assert first == again and first["seed"]
    hidden = [row["number"] for row in first["rows"] if row["hidden"]]
    assert len(hidden) == 2 and 0 not in hidden  # the first stands in a criterion
    assert {
        tuple(row["hidden"] for row in _split(EXAMPLES, run_id=f"task-{number}")["rows"]) for number in range(9)
    } > {tuple(row["hidden"] for row in first["rows"])}
    told = _split(EXAMPLES, request="slugify('Xx Yy'), slugify('Q  r') and slugify( 3 )")
    assert not any(row["hidden"] for row in told["rows"])


@pytest.mark.parametrize(
    ("example", "reason"),
    [
        ({"call": "slugify(name)", "returns": "open('x')"}, "is no Python literal"),
        ({"call": "slugify('a')", "returns": "a-b"}, "write it as source, like 'text' with its quotes"),
        ({"call": "slugify", "returns": "1"}, "is no call of literals"),
        ({"call": "[slugify(x) for x in 'ab']", "returns": "1"}, "is no call of literals"),
        ({"call": "shout('a')", "returns": "'A'"}, "calls nothing that the specification declares"),
        ({"call": "slugify('a')"}, "needs either returns or raises"),
        ({"call": "slugify('a')", "returns": "'a'", "raises": "ValueError"}, "needs either returns or raises"),
        ({"call": "slugify('a')", "raises": "an error"}, "is no name of an exception"),
        ({"call": "slugify('a')", "returns": "'a'", "requirement": "REQ-009"}, "REQ-009"),
    ],
)
def test_an_example_that_cannot_be_checked_says_why(example: dict[str, str], reason: str) -> None:
    (row,) = _split([example])["rows"]
    assert row["ok"] is False and reason in row["reason"] and row["hidden"] is False


def test_a_result_may_be_given_as_a_value_too() -> None:
    (row,) = _split([{"call": "slugify('a')", "returns": ["a", None, 1]}])["rows"]  # type: ignore[dict-item, list-item]
    assert row["ok"] is True


def test_two_results_for_one_call_contradict_each_other() -> None:
    twice = [{"call": "slugify('a')", "returns": "'a'"}, {"call": 'slugify("a")', "returns": "'b'"}]
    rows = _split(twice)["rows"]
    assert "two different results" in rows[1]["reason"]


def test_claims_come_from_the_request_and_the_specification_with_their_requirement() -> None:
    spec = {**SPEC, "examples": EXAMPLES}
    split = _split(EXAMPLES)
    state = before("green")
    state = with_fields(
        state, artifacts={**state.work.artifacts, "spec": spec}, facts={**state.work.facts, "spec": {"claims": split}}
    )
    claims = claims_of(state)
    assert [claim.text for claim in claims] == [
        "slugify('A b') -> 'a-b'",
        "slugify('Xx Yy') -> 'xx-yy'",
        "slugify('Q  r') -> 'q-r'",
        "slugify(3) raises TypeError",
    ]
    assert [claim.hidden for claim in claims] == [row["hidden"] for row in split["rows"]]
    assert [claim.requirement for claim in claims] == ["REQ-001", "REQ-002", "REQ-002", "REQ-002"]
    shown = shown_examples(state)
    assert [claim.hidden for claim in claims] == [claim.call not in shown for claim in claims]


def test_an_example_that_comes_after_another_call_is_conditional_whoever_copied_it() -> None:
    request = "slugify('A b') gives 'a-b'. After `register('q')`, `slugify('Q  r')` gives 'q r'."
    examples = ["slugify('A b') -> 'a-b'", "after `register('q')`, `slugify('Q  r')` gives 'q r'"]
    state = before("green", request=request)
    intake = {**state.work.artifacts["intake"], "examples": examples, "asks": ledger_rows(request)}
    state = with_fields(state, artifacts={**state.work.artifacts, "intake": intake, "spec": {**SPEC, "examples": []}})
    first, second = claims_of(state)
    assert (first.call, first.beside, second.call, second.beside) == (
        "slugify('A b')", (), "slugify('Q  r')", ("register('q')",),
    )  # fmt: skip
    unread = with_fields(
        state, artifacts={**state.work.artifacts, "intake": {**intake, "asks": ledger_rows(request)[1:]}}
    )
    assert [claim.beside for claim in claims_of(unread) if claim.call == second.call] == [("register('q')",)]


def test_words_make_no_example_firm_and_one_that_fails_twice_goes_to_the_reader_of_the_request() -> None:
    request = "slugify('A b') should give 'a-b'."
    state = before("green", request=request)
    intake = {**state.work.artifacts["intake"], "examples": [], "asks": ledger_rows(request)}
    state = with_fields(state, artifacts={**state.work.artifacts, "intake": intake, "spec": {**SPEC, "examples": []}})
    assert [claim.firm for claim in claims_of(state)] == [False]
    read = replace(state, brief=replace(state.brief, examiner={"model": "auto"}))
    assert [(claim.firm, claim.insisted) for claim in claims_of(read)] == [(False, False)]
    row = {"call": "slugify('A b')", "text": "it is 'a b'", "requirement": ""}
    again = with_fields(read, facts={**read.work.facts, "green": {"held_out": {"failed": [row]}}})
    assert [(claim.firm, claim.insisted) for claim in claims_of(again)] == [(False, True)]


def test_the_request_gives_one_call_two_results_and_goes_before_the_specification() -> None:
    request = "slugify('A b') gives 'A b' but should give 'a-b'."
    state = before("green", request=request)
    intake = {**state.work.artifacts["intake"], "examples": [], "asks": ledger_rows(request)}
    copied = [{"call": 'slugify("A b")', "returns": "'A b'"}, {"call": "slugify('c')", "returns": "'c'"}]
    state = with_fields(
        state, artifacts={**state.work.artifacts, "intake": intake, "spec": {**SPEC, "examples": copied}}
    )
    assert [(claim.text, claim.asked) for claim in claims_of(state)] == [
        ("slugify('A b') -> 'A b'", True), ("slugify('A b') -> 'a-b'", True), ("slugify('c') -> 'c'", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("request_", "got", "left"),
    [
        ("slugify('A b') gives 'A b'. It should give 'a-b'.", "'a-b'", 0),
        ("slugify('A b') gives 'A b'. It should give [\"a\", \"b\"].", "['a', 'b']", 0),
        ("slugify('A b') gives 'A b', which is wrong.", "'a-b'", 1),
        ("slugify('A b') gives 'A b'. One thing. Two things. Three things. It should give 'a-b'.", "'a-b'", 1),
        ("slugify('A b') gives 'A b'. It should give 'a-bc'.", "'a-b'", 1),
    ],
)
def test_a_report_whose_new_result_the_request_names_close_by_needs_nobody(request_: str, got: str, left: int) -> None:
    state = before("green", request=request_)
    intake = {**state.work.artifacts["intake"], "asks": ledger_rows(request_)}
    row = {"call": "slugify('A b')", "example": "slugify('A b') -> 'A b'", "got": got, "before": "passed"}
    state = with_fields(
        state,
        artifacts={**state.work.artifacts, "intake": intake},
        facts={**state.work.facts, "green": {"held_out": {"complaints": [row]}}},
    )
    assert len(undecided_examples(state)) == left


def test_a_human_sees_the_held_out_examples_behind_a_refusal_and_an_answer_that_names_one_drops_it() -> None:
    split = _split(EXAMPLES)
    state = failed("green", attempt=9, rule="held-out")
    state = with_fields(
        state,
        artifacts={**state.work.artifacts, "spec": {**SPEC, "examples": EXAMPLES}},
        facts={**state.work.facts, "spec": {"claims": split}},
    )
    asked = decide(state, load_stages())
    assert isinstance(asked, Ask)
    hidden = [example for example, row in zip(EXAMPLES, split["rows"], strict=True) if row["hidden"]]
    assert dict(asked.context)["held_out"] == hidden
    assert not [example for example in hidden if example["call"] in asked.question]
    text = f"{hidden[0]['call']} is a mistake, leave it out"
    answer = EscalationResolved(escalation_id="E1", decision="answer", text=text, by="ann")
    raised = Escalation(
        escalation_id="E1", stage="green", kind="stuck", reason="", question="", options=(), context={}, raised_at="",
        resolution=answer,
    )  # fmt: skip
    left = [claim.call for claim in claims_of(with_fields(state, escalations={"E1": raised}))]
    assert hidden[0]["call"] not in left and hidden[1]["call"] in left


@pytest.mark.parametrize("examples", [None, 3, [None, 7], [{"call": 5}]])
def test_a_draft_may_hold_anything(examples: object) -> None:
    facts: Any = split_facts(before("spec"), {**SPEC, "examples": examples})
    assert not any(row["hidden"] for row in facts["rows"])
