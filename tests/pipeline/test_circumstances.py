"""Measured dependencies and effects in the words of the report."""

from __future__ import annotations

from agentforge.pipeline.delivery.report import dependency_lines

_ROW = {"call": "slug('a')", "circumstance": "at a terminal", "before": "'a'", "after": "'b'", "decides": False}


def test_what_does_not_decide_is_told_once_with_both_results():
    measured = {"found": [_ROW, _ROW, {**_ROW, "decides": True, "circumstance": "under python -O"}], "effects": []}
    assert dependency_lines(measured) == ["slug('a') gives another result at a terminal: 'a' became 'b'"]


def test_a_changed_argument_and_a_new_effect_are_told():
    altered = {**_ROW, "circumstance": "and changes its argument", "before": "[1]", "after": ""}
    effect = {"call": "slug('a')", "kind": "network", "detail": "socket.connect ('h', 80)"}
    assert dependency_lines({"found": [altered], "effects": [effect]}) == [
        "slug('a') gives its result and changes its argument",
        "slug('a') has an effect of a kind that the base had not: network (socket.connect ('h', 80))",
    ]


def test_a_long_list_ends_with_the_number_of_the_rest_and_nothing_measured_is_silent():
    rows = [{**_ROW, "call": f"slug('{number}')"} for number in range(9)]
    assert dependency_lines({"found": rows})[-1] == "3 more dependencies and effects are in the facts of GREEN"
    assert dependency_lines({}) == []
