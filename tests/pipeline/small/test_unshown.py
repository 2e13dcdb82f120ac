"""Proves that what a request names and no example shows is found, in the request and in the code that forgets it."""

from __future__ import annotations

import ast

import pytest

from agentforge.pipeline.small_models.checks.output_agreement import named_in
from agentforge.pipeline.small_models.reading.request_parser import claims_of_request
from agentforge.pipeline.small_models.reading.unverified_wishes import calls_with, unshown

BORED = """Count the sentences that start with "I". Sentences end with '.', '?' or '!'.

bored("It rains. I read") -> 1"""


@pytest.mark.parametrize(
    ("request_text", "names"),
    [
        (BORED, ("?", "!")),
        ("Give 'yes' or 'no': sure(1) -> 'yes'", ("no",)),
        ("find(x, rows) returns the place of x, or -1: find(2, [2]) -> 0", ("-1",)),
        ("parse('3') -> 3. Other texts: raise ValueError.", ("ValueError",)),
        ("parse('3') -> 3, and parse('x') raises ValueError. Other texts raise ValueError, too.", ()),
        ("The largest is 'a', the smallest 'b': ends([3, 1]) -> (3, 1)", ()),
        ("`text` stays: shout('a') -> 'A'", ()),
        ("Make it better", ()),
    ],
)
def test_quotes_and_signals_that_no_example_has(request_text: str, names: tuple[str, ...]) -> None:
    assert unshown(request_text, claims_of_request(request_text)) == names


@pytest.mark.parametrize(
    ("source", "takes_up"),
    [
        ('def bored(s):\n    return s.count("I")', False),
        ('def bored(s):\n    """Ends are ? and !"""\n    return s.count("I")', False),
        ('import re\ndef bored(s):\n    return len(re.split("[.?!]", s))', True),
        ('ENDS = ".?!"\ndef bored(s):\n    return sum(one in ENDS for one in s)', True),
        ('ENDS = ".?!"\ndef bored(s):\n    return s.count("I")', False),
    ],
)
def test_what_a_definition_names_is_seen_with_the_constants_that_it_uses(source: str, takes_up: bool) -> None:
    module = ast.parse(source)
    node = next(one for one in module.body if isinstance(one, ast.FunctionDef))
    assert all(any(name in told for told in named_in(module, node)) for name in ("?", "!")) is takes_up


def test_a_call_with_what_no_example_shows_is_made_of_an_example() -> None:
    assert calls_with(["bored('It rains. I read')"], ["?"]) == ["bored('It rains? I read')"]
    assert calls_with(["f(3)", "f('a', 2)"], ["no"]) == ["f('ano', 2)"]
    assert calls_with(["f(3)"], ["no"]) == []
