"""Disputes between the request and tests: which are found, what they ask, and what follows from a human's ruling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from agentforge.events.kinds import EscalationResolved
from agentforge.events.kinds.choices import choices_of, taken
from agentforge.events.state.attempt import Submission
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.pipeline.engine.decide import decide
from agentforge.pipeline.engine.disputes import (
    BASE,
    GIVEN,
    overruled_tests,
    questions,
    rulings,
    rulings_text,
    set_aside,
    unmet_question,
)
from agentforge.pipeline.engine.rulings import amended, counts, kept_examples
from agentforge.pipeline.facts.contradictions import found_after, found_in, stated_in, told_in
from agentforge.pipeline.model.effects import Ask
from agentforge.pipeline.stages import load_stages
from agentforge.verification.examples.claims import Claim
from tests.support.run_states import with_fields
from tests.support.stage_states import inside

REQUEST = "Add slug(text) to kit.py: words are joined. slug('A b') -> 'a-b', slug('') -> ''."
PATH = "tests/test_slug.py"


def test_file(line: str) -> bytes:
    return f"from kit import slug\n\n\ndef test_slug():\n    {line}\n".encode()


test_file.__test__ = False  # type: ignore[attr-defined]  # no test, whatever pytest thinks of the name


def found(request: str, line: str, *, by: str = GIVEN) -> list[dict[str, object]]:
    return found_in(request, stated_in(request), {PATH: (by, test_file(line))})


@pytest.mark.parametrize(
    ("request_", "line", "by", "calls"),
    [
        (REQUEST, 'assert slug("A b") == "A-b"', GIVEN, ["slug('A b')"]),
        (REQUEST, 'assert slug("A b") == "A-b"', BASE, ["slug('A b')"]),
        (REQUEST, 'assert slug("A b") == "a-b"', GIVEN, []),
        (REQUEST, 'assert slug("C d") == "C-d"', GIVEN, []),
        (REQUEST, 'assert slug("A b", 3) == "C-d"', GIVEN, []),
        (REQUEST, 'with raises(ValueError): slug("")', GIVEN, ["slug('')"]),
        ("slug('') raises ValueError.", 'assert slug("") == ""', GIVEN, ["slug('')"]),
        ("ok('x') should be False.", 'assert ok("x")', GIVEN, ["ok('x')"]),
        ("ok('x') should be True.", 'assert ok("x")', GIVEN, []),
        ("slug('A b') -> 'a-b' instead of 'A-b'.", 'assert slug("A b") == "A-b"', BASE, []),
        ("slug('A b') -> 'a-b' and slug('A b') -> 'A-b'.", 'assert slug("") == ""', BASE, ["slug('A b')"]),
        ("Make slug faster.", 'assert slug("A b") == "A-b"', GIVEN, []),
    ],
)
def test_a_dispute_is_two_stated_results_of_one_call(request_: str, line: str, by: str, calls: list[str]) -> None:
    assert [row["call"] for row in found(request_, line, by=by)] == calls


def waiting(request: str, line: str, *, by: str = GIVEN) -> RunState:
    """INTAKE with a draft whose facts hold the disputes, waiting to be judged."""
    facts = {"examples": [], "disputes": found(request, line, by=by)}
    draft = {"extracted_intent": {"action": "create"}}
    state = inside("intake", request=request)
    return with_fields(state, submission=Submission(draft=draft, facts=facts, by="model"))


def asked(state: RunState) -> Escalation:
    effect = decide(state, load_stages())
    assert isinstance(effect, Ask)
    return Escalation(
        escalation_id="E1", stage="intake", kind="question", reason=effect.reason, question=effect.question,
        options=effect.options, context=dict(effect.context), raised_at="",
        choices=tuple(choice.value for choice in effect.choices),
    )  # fmt: skip


def ruled(line: str, text: str, *, by: str = GIVEN, request: str = REQUEST) -> RunState:
    state = waiting(request, line, by=by)
    item = asked(state)
    choice = taken(item, decision="answer", text=text)
    assert choice is not None
    told = EscalationResolved(escalation_id="E1", decision="answer", text=choice.text)
    return with_fields(state, escalations={"E1": replace(item, resolution=told)})


def test_the_question_shows_both_texts_and_each_choice_says_what_follows() -> None:
    item = asked(waiting(REQUEST, 'assert slug("A b") == "A-b"'))
    assert "slug('A b') -> 'a-b'" in item.question
    assert (
        'tests/test_slug.py:5 (test_slug, supplied with the request) says: assert slug("A b") == "A-b"' in item.question
    )
    request, test = choices_of(item)[:2]
    assert (request.label, test.label) == ("the request holds", "the test holds")
    assert "tests/test_slug.py:5" in request.then and "'a-b'" in request.then
    assert "overruled" in test.then and "tests/test_slug.py" not in test.then


def test_it_is_asked_once_and_the_run_goes_on_with_the_ruling() -> None:
    state = ruled('assert slug("A b") == "A-b"', "the test holds")
    assert [question.key for question in questions(state)] == [state.people.escalations["E1"].context["key"]]
    assert not isinstance(decide(state, load_stages()), Ask)


def test_where_the_test_holds_the_example_of_the_request_counts_no_more() -> None:
    state = ruled('assert slug("A b") == "A-b"', "the test holds")
    assert kept_examples(["slug('A b') -> 'a-b', slug('') -> ''", "slug('') -> ''"], state) == ["slug('') -> ''"]
    assert not counts(Claim(call='slug("A b")', returns="'a-b'"), state)
    assert counts(Claim(call='slug("A b")', returns="'A-b'"), state)
    assert overruled_tests(state) == ()
    assert "slug('A b') gives 'A-b': a human decided so. Overruled: the request says:" in rulings_text(state)
    same = test_file('assert slug("A b") == "A-b"')
    assert amended(PATH, same, state) == same


@pytest.mark.parametrize("by", [GIVEN, BASE])
def test_where_the_request_holds_the_test_is_changed_to_what_it_states(by: str) -> None:
    line = 'assert slug("A b") == "A-b"'
    state = ruled(line, "the request holds", by=by)
    assert amended(PATH, test_file(line), state) == test_file("assert slug(\"A b\") == 'a-b'")
    assert amended("tests/test_other.py", test_file(line), state) == test_file(line)
    assert overruled_tests(state, by=by) == ((PATH, "test_slug"),)
    assert kept_examples(["slug('A b') -> 'a-b'"], state) == ["slug('A b') -> 'a-b'"]


def test_a_request_that_contradicts_itself_offers_its_results() -> None:
    request = "slug('A b') -> 'a-b' and slug('A b') -> 'A-b'."
    item = asked(waiting(request, 'assert slug("") == ""'))
    assert [choice.label for choice in choices_of(item)[:2]] == [
        "the request holds, result 1: it gives 'a-b'", "the request holds, result 2: it gives 'A-b'",
    ]  # fmt: skip
    state = ruled('assert slug("") == ""', "2", request=request)
    (one,) = rulings(state)
    assert one.upheld["returns"] == "'A-b'"


def test_what_cannot_be_written_anew_is_not_offered() -> None:
    request = "slug('') raises ValueError."
    item: Any = asked(waiting(request, 'assert slug("") == "" and slug("x") == "x"'))
    assert [choice.label for choice in choices_of(item) if choice.decision == "answer"] == ["the test holds"]


def test_an_answer_of_another_kind_rules_nothing() -> None:
    state = waiting(REQUEST, 'assert slug("A b") == "A-b"')
    told = EscalationResolved(escalation_id="E1", decision="abort", text="")
    escalations: Mapping[str, Escalation] = {"E1": replace(asked(state), resolution=told)}
    assert rulings(with_fields(state, escalations=dict(escalations))) == []


STEPS = """from ledger import Ledger


def test_balance():
    book = Ledger()
    book.add("salary", 1000)
    book.add("rent", -250)
    assert book.balance() == 1250
"""


@pytest.mark.parametrize(
    ("request_", "count"),
    [
        ("After add('salary', 1000) and add('rent', -250) balance() should be 750.", 1),
        ("After add('salary', 1000) and add('rent', -250) balance() should be 1250.", 0),
        ("After add('salary', 1000) and add('fee', -250) balance() should be 750.", 0),
        ("After add('salary', 1000) and add('rent', -250) the total should be 750.", 0),
    ],
)
def test_what_comes_of_the_very_same_steps_is_a_dispute_where_the_results_differ(request_: str, count: int) -> None:
    rows = found_after(request_, told_in(request_), {"tests/test_ledger.py": (GIVEN, STEPS.encode())})
    assert len(rows) == count
    assert [one["returns"] for row in rows for one in row["results"]] == (["750", "1250"] if count else [])  # type: ignore[attr-defined]


def stuck(*, others: bool = True, by: str = GIVEN) -> RunState:
    """GREEN after a measurement in which a test of a person's was not met."""
    row = {
        "by": by,
        "where": "tests/test_w.py:5",
        "quote": "assert cut('ab', 1) == 'a'",
        "path": "tests/test_w.py",
        "test": "test_w",
    }
    tests = [{"id": "tests/test_w.py::test_w", "kind": "target"}, {"id": "tests/test_w.py::test_v", "kind": "target"}]
    facts = {"green": {"unmet_tests": {"request": REQUEST, "rows": [row]}}, "red": {"tests": tests[: 1 + others]}}
    return inside("green", request=REQUEST, facts=facts)


def test_a_stage_that_is_stuck_on_tests_of_people_shows_them_beside_the_request() -> None:
    text, context, choices = unmet_question(stuck(), "green")
    assert f"- the request says: {REQUEST}" in text and "assert cut('ab', 1) == 'a'" in text
    assert [(choice.label, choice.reopen) for choice in choices] == [
        ("the request holds", "red"),
        ("the test holds", "spec"),
    ]
    assert [row["test"] for row in context["unmet_tests"]] == ["test_w"]  # type: ignore[attr-defined]
    assert unmet_question(inside("green"), "green") == ("", {}, ())


def test_the_only_test_cannot_be_taken_out() -> None:
    _, _, choices = unmet_question(stuck(others=False), "green")
    assert [choice.label for choice in choices] == ["the test holds"]


@pytest.mark.parametrize(
    ("answer", "reopen", "gone"), [("the request holds", "red", True), ("the test holds", "spec", False)]
)
def test_a_ruling_on_an_unmet_test_takes_it_out_or_overrules_the_request(answer: str, reopen: str, gone: bool) -> None:
    state = stuck()
    _, context, _ = unmet_question(state, "green")
    told = EscalationResolved(escalation_id="E1", decision="answer", text=answer, reopen=reopen)
    item = Escalation(
        escalation_id="E1", stage="green", kind="stuck", reason="", question="", options=(), context=context, raised_at="",
        resolution=told,
    )  # fmt: skip
    ruled_ = with_fields(state, escalations={"E1": item})
    data = b"def test_w():\n    assert cut('ab', 1) == 'a'\n\n\ndef test_v():\n    pass\n"
    assert (b"test_w" not in amended("tests/test_w.py", data, ruled_)) is gone
    assert b"test_v" in amended("tests/test_w.py", data, ruled_)
    assert set_aside(ruled_, by=GIVEN) == ((("tests/test_w.py", "test_w"),) if gone else ())
    assert ("took this test out" if gone else "this test holds") in rulings_text(ruled_)


def test_a_call_without_values_gives_what_came_before_it_and_contradicts_nothing() -> None:
    request = "An empty Till has total() == 0; after add(1000) and add(-250) total() is 750."
    assert [one.claim.call for one in stated_in(request)] == []
    assert [one.claim.call for one in stated_in("Till(3).total() is 3, and double(2) is 4.")] == [
        "Till(3).total()",
        "double(2)",
    ]
