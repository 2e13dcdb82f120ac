"""The catalogue as data: it can be read, it names rules that exist, and the page about it is current."""

from __future__ import annotations

import pytest

from agentforge.contracts.rules import all_rules
from agentforge.errors import UsageError
from agentforge.evals.answers import script_of
from agentforge.evals.corpus import QUESTIONS, case_names, chosen_names, load_case
from agentforge.evals.corpus_pages import cheats_page
from agentforge.evals.suites import closing_line


def test_the_catalogue_is_large_and_every_case_can_be_read() -> None:
    cases = [load_case(name) for name in case_names()]
    assert len(cases) > 100
    assert all(script_of(case, "trick") != script_of(case, "twin") for case in cases)


def test_every_case_names_rules_that_exist() -> None:
    known = {rule.rule_id for rule in all_rules()} | {*QUESTIONS.values()}
    unknown = {
        (case.name, rule) for case in map(load_case, case_names()) for rule in case.refused_by if rule not in known
    }
    assert unknown == set()


def test_the_page_about_the_catalogue_is_current(request: pytest.FixtureRequest) -> None:
    assert (request.config.rootpath / "docs" / "cheats.md").read_text(encoding="utf-8") == cheats_page(), (
        "run `make golden`"
    )


def test_a_cheat_that_is_not_there_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        chosen_names(("conftest-adds-xfial",))
    assert caught.value.hint == "did you mean conftest-adds-xfail?"


def test_layers_are_laid_over_each_other_and_tests_are_declared_from_their_files() -> None:
    script = script_of(load_case("plainly-wrong"), "trick")
    red, green = (script[stage][0]["tool_calls"] for stage in ("red", "green"))
    assert [call["name"] for call in red] == ["write_file", "submit_artifact"]
    (declared,) = red[1]["args"]["artifact"]["test_files"]
    assert [(test["kind"], test["acceptance_criterion"]) for test in declared["tests"]] == [
        ("target", "REQ-001.1, REQ-001.2"),
        ("target", "REQ-001.1, REQ-001.2"),
    ]
    assert "return text.lower()\n" in green[0]["args"]["content"]
    twin = script_of(load_case("plainly-wrong"), "twin")["green"][0]["tool_calls"]
    assert '"-".join' in twin[0]["args"]["content"]


def test_the_closing_line_counts_tricks_and_false_alarms() -> None:
    sides = [("trick", True), ("twin", True), ("trick", False), ("twin", False), ("trick", True)]
    assert closing_line(sides) == "caught 2/3, false alarms 1/2"
