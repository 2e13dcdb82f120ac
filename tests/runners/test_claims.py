"""Examples as people write them, read as calls with their results."""

from __future__ import annotations

import pytest

from agentforge.verification.examples.claims import claims_in, literal


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("slugify('Hello World') -> 'hello-world'", ["slugify('Hello World') -> 'hello-world'"]),
        ("assert f(x=1) == [1, 2]", ["f(x=1) -> [1, 2]"]),
        ("`slugify('A')` returns `'a'`", ["slugify('A') -> 'a'"]),
        ("calling f('x') should return 3.", ["f('x') -> 3"]),
        ("e.g. f('x') gives {'a': 1}, and so on", ["f('x') -> {'a': 1}"]),
        ("f(-1) raises ValueError", ["f(-1) raises ValueError"]),
        ("f(-1) -> ValueError", ["f(-1) raises ValueError"]),
        ("f('x') must raise KeyError('x')", ["f('x') raises KeyError"]),
        (
            ">>> f(1)\n2\n>>> g(2)\nTraceback (most recent call last):\n  ...\nValueError: no",
            ["f(1) -> 2", "g(2) raises ValueError"],
        ),
        (
            "| call | result |\n|---|---|\n| `f('x')` | `'y'` |\n| f(2) | TypeError |",
            ["f('x') -> 'y'", "f(2) raises TypeError"],
        ),
        ("f('a -> b') -> 'c -> d'", ["f('a -> b') -> 'c -> d'"]),
        ("f(2) -> 4 and f(3) -> 9", ["f(2) -> 4", "f(3) -> 9"]),
        ("f('x') → \"y\" (not 'z')", ["f('x') -> \"y\""]),
        ("kit.Cart([1]).total() == 3", ["kit.Cart([1]).total() -> 3"]),
        ("f() -> set()", ["f() -> set()"]),
        ("f('x') is None", ["f('x') -> None"]),
        ("f(1) -> 10 - 3", []),
        ("f('x') returns 3 items", []),
        ("f(2) -> 4.5 euros", []),
        ("f('a') returns the empty string", []),
        ("it returns 3", []),
        ("f(2) returns 5 instead of 4", ["f(2) -> 5"]),  # which the base tells
        ("f(2) returns 5 today, but f(2) should return 4", ["f(2) -> 4"]),
        ("f(2) should still give 5, as it does today", ["f(2) -> 5"]),
        ("f(2) must now raise KeyError", ["f(2) raises KeyError"]),
        ("f(2) should no longer give 5, and f(3) should never be 4", []),
        ("len('abc') == 3", []),
        ("[f(x) for x in y] == [1]", []),
    ],
)
def test_an_example_is_read_as_it_is_written(text, claims):
    assert [one.text for one in claims_in(text)] == claims


def test_literals_are_values_of_builtin_types():
    assert (literal("set()"), literal("frozenset({1})"), literal("-1.5")) == (set(), frozenset({1}), -1.5)
    with pytest.raises(ValueError, match="is no literal"):
        literal("open('x')")
