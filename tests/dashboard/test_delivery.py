"""The card of a delivery: what was assumed, what is proved, what was not, and the commands."""

from __future__ import annotations

from typing import Any

from agentforge.dashboard.overview import analysis_of, card_of
from agentforge.dashboard.page_templates import page
from agentforge.events.state.run_state import RunState
from tests.support.run_states import run_state

REPORT: dict[str, Any] = {
    "title": "Add slugify",
    "commits": [{"subject": "feat: add slugify"}],
    "assumptions": [{"question": "Which letters?", "assumption": "ASCII"}],
    "asks": [
        {"text": "slugify lowers", "tests": ["t.py::a", "t.py::b"], "lines": 3},
        {"text": "it is quick", "becomes": "unsaid", "tests": []},
    ],
    "verification": {
        "tests_run": 4, "all_tests_pass": True, "no_regressions": False, "conformance_passing": True, "checks": ["ruff"],
        "controls": {"held": True}, "failing_at_base": ["t.py::old"],
    },
    "mutation": {"run": 3, "killed": 2, "survivors": [{"mutant": "a"}, {"mutant": "b", "equivalent": "same"}]},
}  # fmt: skip


def state(**changed: Any) -> RunState:
    values: dict[str, Any] = {
        "branch": "agentforge/x", "base_commit": "b" * 40, "artifacts": {"deliver": REPORT}, "delivered": {"commit": "c" * 40},
    }  # fmt: skip
    return run_state(**{**values, **changed})


def test_a_delivery_is_told_with_what_it_did_not_show() -> None:
    card = card_of(state())
    assert card is not None
    assert (card["title"], card["merge"], card["delivered"]) == ("feat: add slugify", "git merge agentforge/x", True)
    assert card["look"] == f"git diff {'b' * 12} agentforge/x"
    assert [(row["tests"], row["lines"]) for row in card["proved"]] == [(["t.py::a", "t.py::b"], 3), ([], None)]
    assert [held for held, _ in card["checks"]] == [True, False, True, False, True]
    assert [row["mutant"] for row in card["survivors"]] == ["a"]


def test_an_assumption_without_an_alternative_and_lines_outside_of_functions_are_drawn() -> None:
    report = {**REPORT, "untested": [{"path": "kit.py", "lines": "3-4"}]}
    drawn = bytes(page("delivery.html", card=card_of(state(artifacts={"deliver": report}))).body).decode()
    assert "ASCII" in drawn
    assert "kit.py:3-4" in drawn


def test_without_a_ledger_the_requirements_are_what_is_proved() -> None:
    report = {"requirements": [{"id": "REQ-001", "description": "it lowers", "tests": ["t.py::a"]}]}
    card = card_of(state(artifacts={"deliver": report}))
    assert card is not None
    assert [(row["text"], row["tests"]) for row in card["proved"]] == [("it lowers", ["t.py::a"])]
    assert card["checks"] == []


def test_what_waits_for_approval_is_shown_as_what_will_be_delivered() -> None:
    assert card_of(state(delivered=None)) is None
    card = card_of(state(delivered=None, artifacts={}), draft=REPORT)
    assert card is not None
    assert (card["delivered"], card["commit"]) == (False, "")


def test_an_analysis_has_a_card_of_its_own() -> None:
    found = {"summary": "two ways", "findings": ["a"], "risks": [{"description": "slow"}], "constraints": []}
    assert analysis_of(state(artifacts={"analyze": found})) is None, "it was only a step on the way"
    card = analysis_of(state(artifacts={"analyze": found}, outcome="analyzed"))
    assert card == {"summary": "two ways", "findings": ["a"], "risks": ["slow"], "constraints": []}
