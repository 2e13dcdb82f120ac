"""The edges of a call: nothing, zero, all below zero."""

from __future__ import annotations

from agentforge.pipeline.small_models.checks.boundary_cases import _as_its_origin, edges


def test_each_argument_goes_to_its_edge_alone() -> None:
    assert list(edges(["f([4, -5, 2], 3)"])) == ["f([-4, -5, -2], 3)", "f([], 3)", "f([4, -5, 2], 0)"]


def test_what_the_examples_say_is_no_edge() -> None:
    assert edges(["f('ab')", "f('')"]) == {}


def test_truth_names_and_broken_calls_have_none() -> None:
    assert edges(["f(True)", "f(x)", "f(", "f()"]) == {}


def test_an_edge_knows_the_example_that_it_was_made_of_where_that_has_another_argument() -> None:
    assert edges(["f('pen', 2)"]) == {"f('', 2)": "f('pen', 2)", "f('pen', 0)": "f('pen', 2)"}
    assert edges(["f(2)"]) == {"f(0)": ""}


def test_an_edge_that_moves_as_its_example_does_is_told_by_it() -> None:
    origin = edges(["f('pen', 2)"])
    moves = {"f('pen', 2)": ("1250", "750"), "f('', 2)": ("1250", "750"), "f('pen', 0)": ("1000", "0")}
    assert _as_its_origin("f('', 2)", moves, origin)
    assert not _as_its_origin("f('pen', 0)", moves, origin)
    truth = dict.fromkeys(moves, ("True", "False"))
    assert not _as_its_origin("f('', 2)", truth, origin)
