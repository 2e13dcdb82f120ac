"""The planted tests whose outcome is drawn: whoever lets everything pass, or fail, or guesses, voids the run."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.testing.channel import Received
from agentforge.testing.report_assembly import Canaries, assemble
from agentforge.testing.report_stream import drawn_outcomes
from agentforge.workspace.processes.process import Completed

NAMES = Canaries(
    first="test_x_a",
    late="test_x_b",
    end="test_x_c",
    coins={"test_y_a": ("north", "north"), "test_z_b": ("up", "down")},
)


def _result(name: str, outcome: str, message: str = "") -> dict[str, Any]:
    failure = {
        "exc_type": "AssertionError", "message": message, "file": "", "line": 0, "in_test": False, "names": [], "text": ""
    }  # fmt: skip
    row = {"kind": "result", "id": f"m.py::{name}", "outcome": outcome, "duration": 0.0, "problems": []}
    return {**row, "failure": failure if message else None}


def _canary(*coins: dict[str, Any]) -> str:
    records = [
        {"kind": "planted", "ids": ["m.py::test_x_a", "m.py::test_x_b"]},
        _result("test_x_a", "failed", "1 is not 2"), *coins, _result("test_x_b", "failed", "3 is not 2"),
        _result("test_x_c", "passed"), {"kind": "finished", "exit": 1, "leaks": [], "replaced": []},
    ]  # fmt: skip
    ended = Completed(exit_code=1, output=b"", omitted_bytes=0, timed_out=False, duration_s=1.0)
    given = Received(records=tuple(records), problems=())
    return assemble(given, ended, canaries=NAMES, junit=None, command=("pytest",), runner="pytest").canary


def test_coins_that_fell_as_they_were_drawn_hold() -> None:
    assert _canary(_result("test_y_a", "passed"), _result("test_z_b", "failed", "up is not down")) == "held"


@pytest.mark.parametrize(
    "coins",
    [
        (_result("test_y_a", "passed"), _result("test_z_b", "passed")),
        (_result("test_y_a", "failed", "1 is not 2"), _result("test_z_b", "failed", "up is not down")),
        (_result("test_y_a", "passed"), _result("test_z_b", "failed", "1 is not 2")),
        (_result("test_y_a", "passed"), _result("test_z_b", "skipped")),
        (_result("test_y_a", "passed"),),
        (_result("test_y_a", "passed"), *[_result("test_z_b", "failed", "up is not down")] * 2),
    ],
    ids=["all pass", "all fail", "a guessed failure", "skipped", "not run", "run twice"],
)
def test_a_coin_that_fell_otherwise_breaks_the_canary(coins: tuple[dict[str, Any], ...]) -> None:
    assert _canary(*coins) == "broken"


def test_planted_tests_of_other_languages_hold_both_outcomes_and_no_letter_tells_which() -> None:
    drawn = [drawn_outcomes() for _ in range(60)]
    assert all(set(one.values()) == {"passed", "failed"} for one in drawn)
    assert all({one[letter] for one in drawn} == {"passed", "failed"} for letter in drawn[0])
