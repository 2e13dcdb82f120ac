"""Proves that a request is read without a model: action, examples word for word, complaints, contradictions, answers."""

from __future__ import annotations

import ast

import pytest

from agentforge.pipeline.facts.examples import stands_in
from agentforge.pipeline.small_models.reading import request_parser as reading


@pytest.mark.parametrize(
    ("request_text", "claims", "examples"),
    [
        (
            "Add slugify(text): slugify('A B') -> 'a-b', slugify('') -> '' and slugify('x') gives 'x'.",
            ["slugify('A B') -> 'a-b'", "slugify('') -> ''", "slugify('x') -> 'x'"],
            ("slugify('A B') -> 'a-b'", "slugify('') -> ''", "slugify('x') gives 'x'"),
        ),
        ("Add:\n>>> f(2)\n4\n", ["f(2) -> 4"], (">>> f(2)\n4",)),
        ("| call | result |\n|---|---|\n| f(2) | 4 |\n| f('x') | ValueError |",
         ["f(2) -> 4", "f('x') raises ValueError"], ("| f(2) | 4 |", "| f('x') | ValueError |")),
        ("initials('a b c') returns 'ab' but should return 'abc'", ["initials('a b c') -> 'abc'"], ()),
        ("initials('a b c') currently gives 'ab' instead of 'abc'.", ["initials('a b c') -> 'abc'"], ()),
        ("f(3) must be 9, not 6", ["f(3) -> 9"], ("f(3) must be 9",)),
        ("parse('1h') should return 60; parse('') should raise ValueError",
         ["parse('1h') -> 60", "parse('') raises ValueError"],
         ("parse('1h') should return 60", "parse('') should raise ValueError")),
        ("Make it faster and nicer", [], ()),
    ],
)  # fmt: skip
def test_examples_are_read_as_they_stand(request_text: str, claims: list[str], examples: tuple[str, ...]) -> None:
    assert [claim.text for claim in reading.claims_of_request(request_text)] == claims
    assert reading.examples_of(request_text) == examples
    assert all(stands_in(text, request_text) for text in examples)


@pytest.mark.parametrize(
    ("request_text", "action"),
    [
        ("Fix the crash when a new user logs in", "fix"),
        ("Add a function f", "create"),
        ("Rename f to g", "refactor"),
        ("Remove f", "delete"),
        ("total() shall leave out what is free", "modify"),
    ],
)
def test_the_first_telling_word_is_the_action(request_text: str, action: str) -> None:
    assert reading.action_of_request(request_text) == action


def test_two_results_of_one_call_contradict_each_other() -> None:
    assert reading.contradictory("f(1) -> 2 and f(1) -> 3") == ("f(1)",)
    assert reading.contradictory("f(1) -> 2 and f(2) -> 3") == ()


@pytest.mark.parametrize(
    ("call", "root", "attribute"),
    [("f(1)", "f", ""), ("Stack([1]).peek()", "Stack", "peek"), ("kit.f(1)", "kit", "f"), ("list(f(2))", "f", "")],
)
def test_what_is_called_is_the_first_name_that_is_no_builtin(call: str, root: str, attribute: str) -> None:
    assert reading.called(call) == (root, attribute)


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ("all", ["f(1) -> 2", "f(2) -> 3"]),
        ("2", ["f(2) -> 3"]),
        ("1, f(5) -> 6", ["f(5) -> 6", "f(1) -> 2"]),
        ("none of them", []),
        ("f(0) raises ValueError", ["f(0) raises ValueError"]),
    ],
)
def test_a_person_confirms_by_number_by_word_or_in_own_words(answer: str, chosen: list[str]) -> None:
    assert [claim.text for claim in reading.chosen_examples(answer, ["f(1) -> 2", "f(2) -> 3"])] == chosen


def test_an_answer_about_one_call_is_a_value_or_an_exception() -> None:
    assert [one.text for one in reading.claim_from_answer("f(0)", "`3`")] == ["f(0) -> 3"]
    assert [one.text for one in reading.claim_from_answer("f(0)", "raises ValueError")] == ["f(0) raises ValueError"]
    assert reading.claim_from_answer("f(0)", "whatever you like") == []


def test_an_option_may_be_named_by_its_number_unless_it_is_one_itself() -> None:
    assert reading.option_meant("2", ("'a'", "'b'")) == "'b'"
    assert reading.option_meant("2", ("1", "2")) == "2"
    assert reading.option_meant("7", ("'a'",)) == "7"


def test_calls_and_files_that_a_request_names_are_found() -> None:
    assert [ast.unparse(call) for call in reading.named_calls("Add slugify(text, sep='-') (see len(x)).")] == [
        "slugify(text, sep='-')"
    ]
    assert reading.paths_of("in src/kit/text.py and ./b.py, not c.pyc") == ("src/kit/text.py", "b.py")


@pytest.mark.parametrize(
    ("request_", "action"),
    [
        ("Is f called anywhere? Look into it and report; do not change anything.", "analyze"),
        ("Why is start-up slow? Just report.", "analyze"),
        ("Find out who writes the file, without touching the code", "analyze"),
        ("Add a report; do not change the format of old ones", "create"),
        ("f(2) is wrong: f(2) -> 4. Do not change anything else", "fix"),
    ],
)
def test_who_wants_nothing_changed_wants_to_know(request_: str, action: str) -> None:
    assert reading.action_of_request(request_) == action


def test_the_last_example_of_a_quoted_docstring_is_read_too() -> None:
    request = (
        'Add f:\n\ndef f(x: int) -> bool:\n    """ Tell.\n    >>> f(1)\n    False\n    >>> f(2)\n    True\n    """\n'
    )
    assert [claim.text for claim in reading.claims_of_request(request)] == ["f(1) -> False", "f(2) -> True"]


def test_a_head_that_stands_in_a_request_declares_its_name() -> None:
    request = 'Add it to kit.py:\n\ndef cars(n: int):\n    """Count."""\n\nclass Road:\n    pass\nundef x(y)'
    assert reading.declared_names(request) == ("cars", "Road")
