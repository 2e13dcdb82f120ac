"""Intervals, counts, losses and comparisons, on rows written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.evals.trials.report import compared, figures, sign_test, wilson


def _row(task: str, verdict: str, model: str = "m/a", **more: Any) -> dict[str, Any]:
    stage = {"name": "green", "calls": 2, "prompt_tokens": 10, "completion_tokens": 5, "wall_s": 1.5, "cpu_s": 0.5}
    row = {
        "task": task,
        "model": model,
        "verdict": verdict,
        "action": "fix",
        "expected": "right",
        "why": "",
        "examples": True,
    }
    return {
        **row,
        "lost_in": "" if verdict == "right" else "green",
        "calls": 2,
        "cost_usd": 0.25,
        "stages": [stage],
        **more,
    }


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 20, 0.0, 0.1611), (20, 20, 0.8389, 1.0), (12, 20, 0.3866, 0.7812), (0, 0, 0.0, 1.0)],
)
def test_wilson_gives_the_known_intervals(hits: int, n: int, low: float, high: float) -> None:
    assert wilson(hits, n) == pytest.approx((low, high), abs=1e-4)


def test_figures_are_counted_for_each_model() -> None:
    rows = [
        _row("a", "right"),
        _row("b", "wrong", examples=False),
        _row("c", "escalated"),
        _row("a", "failed", model="m/b"),
    ]
    first, second = figures(rows)
    assert (first["model"], first["tasks"], second["failed"]["n"]) == ("m/a", 3, 1)
    assert {name: first[name]["n"] for name in ("right", "wrong", "escalated", "failed")} == {
        "right": 1, "wrong": 1, "escalated": 1, "failed": 0,
    }  # fmt: skip
    assert (first["with_examples"]["tasks"], first["with_examples"]["wrong"]["n"]) == (2, 0)
    assert first["lost_in"] == {"green": 2}
    assert first["by_action"] == {"fix": {"right": 1, "wrong": 1, "escalated": 1}}
    assert (first["calls"], first["cost_usd"]) == (6, 0.75)
    assert first["stages"] == [
        {"name": "green", "tasks": 3, "calls": 6, "prompt_tokens": 30, "cached_tokens": 0, "completion_tokens": 15,
         "wall_s": 4.5, "cpu_s": 1.5}
    ]  # fmt: skip


def test_an_unknown_price_is_no_zero() -> None:
    (one,) = figures([_row("a", "right"), _row("b", "right", cost_usd=None)])
    assert one["cost_usd"] is None


def test_a_comparison_names_what_changed_and_how_likely_that_is() -> None:
    before = [_row("a", "wrong"), _row("b", "right"), _row("c", "escalated"), _row("gone", "right")]
    after = [_row("a", "right"), _row("b", "right"), _row("c", "failed"), _row("new", "right")]
    value = compared(before, after)
    assert (value["tasks"], value["better"], value["worse"], value["same"], value["p"]) == (3, 1, 1, 1, 1.0)
    assert [(one["task"], one["before"], one["now"], one["better"]) for one in value["changes"]] == [
        ("a", "wrong", "right", True),
        ("c", "escalated", "failed", False),
    ]
    assert value["sums"]["calls"] == {"before": 6, "now": 6}


def test_another_model_is_compared_task_by_task() -> None:
    value = compared([_row("a", "wrong", model="m/old")], [_row("a", "right", model="m/new")])
    assert (value["tasks"], value["better"]) == (1, 1)


def test_the_sign_test_knows_small_numbers() -> None:
    assert sign_test(5, 0) == pytest.approx(0.0625)
    assert sign_test(0, 0) == 1.0
    assert sign_test(3, 4) == 1.0
