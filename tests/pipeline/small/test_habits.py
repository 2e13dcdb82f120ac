"""Proves that a call is made which breaks what all examples have in common, and none where the examples break it themselves."""

from __future__ import annotations

import ast

import pytest

from agentforge.pipeline.small_models.checks.example_bias import broken_habits, disordered, ordered

PLAIN = "def f(a, b, c):\n    return a + b - c"
FROM_THE_END = "def f(rows, k):\n    return sorted(rows)[-k:]"


@pytest.mark.parametrize(
    ("calls", "source", "request_text", "broken"),
    [
        (["f(3, 4, 5)", "f(1, 2, 3)"], PLAIN, "", ["f(5, 4, 3)"]),
        (["f(3, 4, 5)", "f(2, 1, 3)"], PLAIN, "", []),
        (["f(3, 4)"], PLAIN, "", []),
        (["f(1, 1, 1)"], PLAIN, "", []),
        (["f(3, 4, 5)"], PLAIN, "Takes sorted numbers", []),
        (["f([2, 1], 2)", "f([1], 1)"], FROM_THE_END, "", ["f([2, 1], 0)"]),
        (["f([2, 1], 0)"], FROM_THE_END, "", []),
        (["f([2, 1], 2)"], "def f(rows, k):\n    return rows[:-k]", "", ["f([2, 1], 0)"]),
        (["f([2, 1], 2)"], "def f(rows, k):\n    return rows[len(rows) - k:]", "", []),
        (["f('x', k=2)", "f("], FROM_THE_END, "", []),
    ],
)
def test_a_habit_of_the_examples_is_broken_by_a_call(
    calls: list[str], source: str, request_text: str, broken: list[str]
) -> None:
    found = broken_habits(calls, ast.parse(source).body[0], request=request_text)
    assert [one.call for one in found] == broken


def test_results_that_all_ascend_are_told_from_others() -> None:
    assert ordered(["(2.0, 2.2)", "(1, 1)"])
    assert not ordered(["(1, 1)"]) and not ordered(["(2, 1)", "(1, 2)"]) and not ordered(["[1, 2]"]) and not ordered([])
    assert disordered("(2, 1)")
    assert not disordered("(1, 2)") and not disordered("[2, 1]") and not disordered("raises ValueError")
