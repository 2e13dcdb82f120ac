"""Examples of a request, taken word for word and asserted by tests."""

from __future__ import annotations

import pytest

from agentforge.pipeline.facts.examples import asserted_in, literals, stands_in


@pytest.mark.parametrize(
    ("example", "request_text", "found"),
    [
        ("slugify('A b') -> 'a-b'", "Add slugify: slugify('A b') -> 'a-b' please", True),
        ("slugify('A b')  ->\n 'a-b'", "slugify('A b') -> 'a-b'", True),
        ("slugify('A b') -> 'a_b'", "slugify('A b') -> 'a-b'", False),
        ("", "anything", False),
    ],
)
def test_an_example_stands_in_the_request_or_not(example: str, request_text: str, found: bool) -> None:
    assert stands_in(example, request_text) is found


def test_literals_are_strings_and_numbers() -> None:
    assert literals("f('a', \"b c\", -3, 2.5) -> x1") == ["a", "b c", "-3", "2.5"]


def test_an_example_is_asserted_when_all_its_literals_stand_in_the_source() -> None:
    assert asserted_in("f('a') -> 'b'", 'assert f("a") == "b"')
    assert not asserted_in("f('a') -> 'b'", 'assert f("a") == "c"')
    assert not asserted_in("f('a b', 7) -> 'a-w'", 'assert f("a b", 7)\nassert f("a b") == "a-world"')
    assert not asserted_in("f(7) -> 1", "assert f(17) == 1") and asserted_in("f('') -> '#1'", 'assert f("") == "x #1"')
    assert asserted_in("f('a\\nb') -> 1", "assert f('''a\nb''') == 1")


@pytest.mark.parametrize(
    ("example", "found"),
    [
        ("don't take 'x' for the users' own 'y'", ["x", "y"]),
        ("get('k') gives 'unknown property: KEY' where the key is not there", ["k"]),
        ("get('k') gives 'unknown property: KEY'", ["k", "unknown property: KEY"]),
        ("prints 'parsing ...' for 'x'", ["x"]),
        ("hello('Ann') gives 'Hello <name>'", ["Ann"]),
        ("bold('x') gives '<b>x</b>'", ["x", "<b>x</b>"]),
        ("f('a') gives b'c'", ["a", "c"]),
        ("f('a') gives 'one\n    two'", ["a", "one\n    two"]),
        ("f(1) has the docstring \"\"\"Count.\n\nAll.\"\"\"", ["1"]),
    ],
)  # fmt: skip
def test_what_stands_for_something_else_is_no_literal(example: str, found: list[str]) -> None:
    assert literals(example) == found


def test_a_text_that_crosses_a_line_of_the_request_may_stand_in_the_test_in_any_layout() -> None:
    example = "f('a') gives 'one\n    two'"
    for source in ('f("a") == "one two"', 'f("a") == "one\\ntwo"', 'f("a") == ("one "\n        "two")'):
        assert asserted_in(example, source)
    assert not asserted_in(example, 'f("a") == "one"')
