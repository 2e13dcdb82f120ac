"""Rules that users write: CEL expressions and commands."""

from __future__ import annotations

from agentforge.contracts.check import check
from agentforge.contracts.contract import CommandResult
from agentforge.contracts.dialect import parse_contract

OWN = """
contract: mine
schema:
  count: {type: integer, required: true}
validation:
  - {cel: "artifact.count > facts.limit", message: more than the limit}
  - {command: make lint, message: lint}
"""


def test_rules_of_users_are_judged_with_their_own_message() -> None:
    mine = parse_contract(OWN, source="mine.yaml")
    assert mine.commands == ("make lint",)
    ran = [CommandResult(command="make lint", exit_code=0)]
    assert check(mine, {"count": 3}, facts={"limit": 2}, inputs={}, command_results=ran).passed
    wrong = check(
        mine,
        {"count": 1},
        facts={"limit": 2},
        inputs={},
        command_results=[CommandResult(command="make lint", exit_code=2, output="E1")],
    )
    assert [item.message for item in wrong.failures] == [
        "more than the limit: artifact.count > facts.limit is not true",
        "lint: `make lint` ended with 2: E1",
    ]


def test_a_users_rule_that_cannot_be_evaluated_or_was_not_run_does_not_hold() -> None:
    mine = parse_contract(OWN, source="mine.yaml")
    failures = check(mine, {"count": 1}, facts={}, inputs={}).failures
    assert "could not be evaluated" in failures[0].message
    assert "was not run" in failures[1].message
    number = parse_contract("contract: n\nschema: {a: {}}\nvalidation: [{cel: '1 + 1'}]\n", source="n.yaml")
    assert not check(number, {}, facts={}, inputs={}).passed
