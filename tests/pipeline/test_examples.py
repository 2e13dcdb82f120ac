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
