"""The edges of a call: nothing, zero, all below zero."""

from __future__ import annotations

from agentforge.pipeline.small.edges import edges


def test_each_argument_goes_to_its_edge_alone() -> None:
    assert edges(["f([4, -5, 2], 3)"]) == ["f([-4, -5, -2], 3)", "f([], 3)", "f([4, -5, 2], 0)"]


def test_what_the_examples_say_is_no_edge() -> None:
    assert edges(["f('ab')", "f('')"]) == []


def test_truth_names_and_broken_calls_have_none() -> None:
    assert edges(["f(True)", "f(x)", "f(", "f()"]) == []
