"""Tests of the base that take long: they are asked where the quick ones leave something open, and then only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentforge.testing.coverage import Traced, bits_of
from agentforge.verification.counterexamples.mutant_score import MutationBounds, with_noticed
from agentforge.verification.stages.change import Change
from agentforge.verification.stages.strength import measure_strength

AFTER = "def price(n, member):\n    if n > 9:\n        return n - 1 if member else n\n    return n\n"
STRONG = """import kit


def test_price():
    assert [kit.price(n, m) for n in (9, 10) for m in (True, False)] == [9, 9, 9, 10]
"""
LINES, NEW, OLD = "2-3", "tests/test_new.py::test_price", "tests/test_kit.py::test_long"


@pytest.fixture(scope="module")
def strength(project: Callable[..., Any]) -> Callable[..., Any]:
    long = STRONG.replace("test_price", "test_long")
    made = project({"kit.py": "def price(n, member):\n    return n\n", "tests/test_kit.py": long})

    base = made.tree()

    def measured(new: str, *, known: bool = True, usual_s: float = 1.0) -> tuple[dict[str, Any], dict[str, Any]]:
        tree = made.tree({"kit.py": AFTER, "tests/test_new.py": new})
        change = Change(
            lines={"kit.py": bits_of([LINES])},
            tests=[{"id": NEW, "kind": "target"}],
            frozen=("tests/test_new.py",),
            impacted_long=(OLD,) if known else (),
        )
        return measure_strength(
            made.rig(usual_s=usual_s), change, base_tree=base, red_tree=tree, tree=tree, bounds=MutationBounds(most=20)
        )

    return measured


def test_a_long_test_is_not_run_where_the_new_tests_leave_nothing_open(strength: Callable[..., Any]) -> None:
    facts, evidence = strength(STRONG)
    assert facts["mutation"]["survivors"] == [] and facts["coverage"]["untested"] == []
    assert set(evidence["executed"]) == {NEW}


def test_a_long_test_is_asked_about_the_mutants_that_are_left(strength: Callable[..., Any]) -> None:
    weak = "import kit\n\n\ndef test_price():\n    assert [kit.price(n, n > 10) for n in (1, 10, 90)] == [1, 10, 89]\n"
    facts, evidence = strength(weak)
    mutation = facts["mutation"]
    assert (mutation["survivors"], mutation["score"], mutation["survived"]) == ([], 1.0, 0)
    assert mutation["killed"] == mutation["run"] > 0
    assert OLD not in evidence["executed"], "what they execute was known: nobody records it again"


def test_a_long_test_is_recorded_where_a_changed_statement_is_run_by_no_other(strength: Callable[..., Any]) -> None:
    facts, evidence = strength("import kit\n\n\ndef test_price():\n    assert kit.price(1, True) == 1\n")
    assert facts["coverage"]["untested"] == [] and facts["mutation"]["survivors"] == []
    assert OLD in evidence["executed"]


def test_all_others_are_asked_before_a_changed_statement_counts_as_run_by_no_test(strength: Callable[..., Any]) -> None:
    """Which tests run what is known of those alone that were looked at, for a share of the suite's time."""
    short = "import kit\n\n\ndef test_price():\n    assert kit.price(1, True) == 1\n"
    facts, evidence = strength(short, known=False)
    assert facts["coverage"]["untested"] == [] and facts["mutation"]["survivors"] == []
    assert OLD in evidence["executed"]
    assert strength(STRONG, known=False)[1]["executed"].keys() == {NEW}
    slow, _ = strength(short, known=False, usual_s=1000.0)
    assert slow["coverage"]["untested"], "so slow a suite is not run once more for it"


def test_of_two_runs_everything_is_known_that_one_of_them_shows() -> None:
    one = Traced(tests={"": {"a": 1}, "x": {"a": 2}}, measured=True, opaque=frozenset({"x"}), calls=({"n": 1},))
    two = Traced(tests={"": {"a": 4, "b": 8}, "x": {"b": 32}, "y": {"b": 16}}, measured=True, opaque=frozenset({"y"}))
    both = one.joined(two)
    assert both.tests == {"": {"a": 5, "b": 8}, "x": {"a": 2, "b": 32}, "y": {"b": 16}}
    assert both.opaque == {"x", "y"} and both.calls == ({"n": 1},)
    assert one.joined(Traced(note="no tracer")) is one and one.joined(Traced(measured=True, lost="y")) is one


def test_the_score_counts_what_other_tests_notice() -> None:
    told = {"survivors": [{"id": "M1"}, {"id": "M2"}], "run": 4, "killed": 2, "survived": 2, "note": "", "score": 0.5}
    again = with_noticed(told, {"M2"})
    assert (again["killed"], again["survived"], again["score"]) == (3, 1, 0.75)
    assert [row["id"] for row in again["survivors"]] == ["M1"] and again["measured"]
