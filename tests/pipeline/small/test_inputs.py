"""Proves that examples are read which name inputs and the output, and that nothing is made of what leaves the call open."""

from __future__ import annotations

import pytest

from agentforge.pipeline.facts.examples import stands_in
from agentforge.pipeline.small_models.reading.request_parser import claims_of_request, own_words

ONE = "def hex_key(num):\n"
TWO = 'Add reverse_delete to kit.py.\n\ndef reverse_delete(s: str, c: str = "") -> tuple:\n    """Task\n'


@pytest.mark.parametrize(
    ("request_text", "claims"),
    [
        (f'{ONE}    For num = "AB" the output should be 1.', ['hex_key("AB") -> 1']),
        (
            f"{TWO}    For s = 'abcde', c = 'ae', the result should be ('bcd',False)",
            ["reverse_delete('abcde', 'ae') -> ('bcd',False)"],
        ),
        (f"{TWO}    For s = 'abc' it should return ('abc', False)", ["reverse_delete('abc') -> ('abc', False)"]),
        ("def top(arr, k):\n  Input: arr = [4, -4], k = 2\n  Output: [-4, 4]", ["top([4, -4], 2) -> [-4, 4]"]),
        ("def pluck(arr):\n  Input: [4,2,3]\n  Output: [2, 1]\n  Explanation: 2", ["pluck([4, 2, 3]) -> [2, 1]"]),
        (
            "def fill(grid, capacity):\n  Input:\n    grid : [[0,1], [1,1]]\n    bucket_capacity : 1\n  Output: 3",
            ["fill([[0,1], [1,1]], 1) -> 3"],
        ),
        (
            "def by_length(arr):\n  arr = [2, 1]\n      -> sort\n  return ['Two', 'One']",
            ["by_length([2, 1]) -> ['Two', 'One']"],
        ),
        ("Add total(prices) to kit.py. For prices = [1, 2] the answer is 3.", ["total([1, 2]) -> 3"]),
        # nothing to be made of
        ("def top(arr, k):\n  For arr = [1] the output should be 1", []),
        ("def top(arr, k):\n  Input: arr = [1], k = n\n  Output: 1", []),
        ("def one(a):\n    pass\ndef two(a):\n  For a = 1 the output should be 2", []),
        ("def one(a):\n  For b = 1 the output should be 2", []),
        ("Set debug = 1 in settings.py, so that it should be 2", []),
    ],
)
def test_a_call_is_made_of_inputs_that_are_told_by_name(request_text: str, claims: list[str]) -> None:
    assert [claim.text for claim in claims_of_request(request_text)] == claims
    assert all(stands_in(words, request_text) for words in own_words(request_text).values())


def test_an_example_with_its_call_wins_over_told_inputs() -> None:
    request = "def f(n):\n    f(2) -> 4\n    For n = 3 the output should be 5"
    assert [claim.text for claim in claims_of_request(request)] == ["f(2) -> 4"]


def test_values_that_are_no_part_of_an_example_are_not_asked_of_a_test() -> None:
    request = 'def solve(N):\n    For N = 150, the sum of digits will be 6 the output should be "110".\n    Input 1: 7\n    Output 1: 5'
    assert own_words(request) == {'solve(150) -> "110"': 'output should be "110"', "solve(7) -> 5": "5"}
