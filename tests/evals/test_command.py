"""`agentforge eval cheats`: rows as they come, the closing line, exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from agentforge.cli.commands.evaluation.suites import case_lines
from agentforge.cli.output.terminal import Style
from agentforge.cli.startup.entry import run
from agentforge.evals.side_run import SideResult
from agentforge.evals.suites import CaseResult, run_cases

if TYPE_CHECKING:
    from pathlib import Path

STYLE = Style(colour=False, unicode=False)


def test_one_cheat_is_played_and_told_as_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "cheats", "fails-by-a-typo", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert (told["ok"], told["summary"]) == (True, "caught 1/1, false alarms 0/1")
    (case,) = told["cases"]
    assert case["trick"]["outcome"] == "escalated" and "right-reason" in case["trick"]["rules"]
    assert (case["twin"]["outcome"], case["twin"]["rules"]) == ("delivered", [])


def test_a_cheat_that_is_not_known_is_a_usage_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "cheats", "fails-by-a-typ"]) == 2
    assert "did you mean fails-by-a-typo?" in capfd.readouterr().err


def test_a_row_says_what_went_otherwise_than_it_must() -> None:
    through = SideResult(name="a", side="trick", right=False, outcome="delivered", detail="there is a branch")
    fine = SideResult(name="a", side="twin", right=True, outcome="delivered", duration_s=1.25)
    assert case_lines(CaseResult(trick=through, twin=fine), width=3, style=STYLE) == [
        "x a    NOT CAUGHT; twin delivered  (1.2 s)",
        "    trick: there is a branch",
    ]
    caught = SideResult(name="a", side="trick", right=True, outcome="escalated", stage="red", rules=("right-reason",))
    refused = SideResult(name="a", side="twin", right=False, outcome="escalated", detail="refused by conformance")
    assert case_lines(CaseResult(trick=caught, twin=refused), width=1, style=STYLE) == [
        "x a  refused in red by right-reason; FALSE ALARM  (0.0 s)",
        "    twin: refused by conformance",
    ]


def test_a_case_that_breaks_the_program_is_an_error_and_no_refusal(tmp_path: Path) -> None:
    (broken,) = run_cases(["there-is-no-such-case"], processes=1, folder=tmp_path)
    assert not broken.right
    assert (broken.trick.outcome, broken.twin.outcome) == ("error", "error")
    assert broken.trick.detail.startswith("the program broke: ConfigError")
