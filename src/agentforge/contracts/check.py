"""Judging an artifact by its contract: schema and every rule, all failures at once (seed 001 section 2.3)."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentforge.contracts.contract import CommandResult, Contract, Json, Rule
from agentforge.contracts.draft import draft_schema
from agentforge.contracts.failures import explain
from agentforge.contracts.rule import Case, RuleOutcome, broken, held
from agentforge.contracts.rules import find_rule, judge
from agentforge.errors import ContractInvalid
from agentforge.frozen import dataclass

__all__ = ["CheckResult", "RuleResult", "check", "draft_schema"]

SCHEMA_RULE = "schema"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """What one rule said of the artifact.

    Attributes:
        rule: the id of a named rule, "schema", or "cel: ..." / "command: ..." with the author's text.
        message: "" when it passed.
        path: the place in the artifact, "" when the whole artifact or the measured tree is to blame.
        measured: the value or number that was looked at.
    """

    rule: str
    passed: bool
    message: str = ""
    path: str = ""
    measured: object = None

    def value(self) -> dict[str, object]:
        """Give the result as it is recorded."""
        return {
            "rule": self.rule,
            "passed": self.passed,
            "message": self.message,
            "path": self.path,
            "measured": self.measured,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The verdict over an artifact: passed when every rule did."""

    passed: bool
    results: tuple[RuleResult, ...]

    @property
    def failures(self) -> tuple[RuleResult, ...]:
        """The results that did not pass."""
        return tuple(result for result in self.results if not result.passed)


def check(
    contract: Contract,
    artifact: object,
    *,
    facts: Json,
    inputs: Mapping[str, Json],
    command_results: Sequence[CommandResult] = (),
) -> CheckResult:
    """Judge an artifact by the schema and every rule of its contract; nothing stops at the first failure.

    Args:
        facts: what the verifier measured for this stage.
        inputs: earlier artifacts, by contract name or by stage name.
        command_results: what came of `contract.commands`; a command without a result does not hold.
    """
    results = list(_schema_results(contract, artifact))
    case = Case(artifact=artifact if isinstance(artifact, Mapping) else {}, facts=facts, inputs=inputs)
    results += [_rule_result(rule, case, contract=contract, ran=command_results) for rule in contract.rules]
    return CheckResult(passed=all(result.passed for result in results), results=tuple(results))


def _schema_results(contract: Contract, artifact: object) -> list[RuleResult]:
    """One result when the schema holds, else one for each failure."""
    validator = _validator(json.dumps(contract.json_schema), contract.source)
    try:
        errors = list(validator.iter_errors(artifact))
    except ValueError as exc:
        message = f"the artifact is no JSON value: {exc}"
        return [RuleResult(rule=SCHEMA_RULE, passed=False, message=message)]
    if not errors:
        return [RuleResult(rule=SCHEMA_RULE, passed=True)]
    explained = [explain(error, schema=contract.json_schema) for error in errors]
    return [RuleResult(rule=SCHEMA_RULE, passed=False, path=path, message=message) for path, message in explained]


@functools.lru_cache(maxsize=64)
def _validator(schema_text: str, source: str) -> Any:  # Any: a Rust extension without stubs
    import jsonschema_rs

    try:
        return jsonschema_rs.Draft202012Validator(json.loads(schema_text), validate_formats=True)
    except ValueError as exc:
        reason = str(exc).splitlines()[0]
        raise ContractInvalid(f"{source}: the schema cannot be used: {reason}", hint="correct the pattern") from exc


def _rule_result(rule: Rule, case: Case, *, contract: Contract, ran: Sequence[CommandResult]) -> RuleResult:
    """Judge one rule of whatever kind."""
    if rule.kind == "named":
        named = find_rule(rule.text, source=contract.source)
        return _as_result(named.rule_id, judge(named, case), rule)
    if rule.kind == "command":
        return _as_result(f"command: {rule.text}", _command_outcome(rule.text, ran), rule)
    from agentforge.contracts.expression import evaluate

    passed, reason = evaluate(rule.text, artifact=case.artifact, facts=case.facts, inputs=case.inputs)
    outcome = held() if passed else broken(f"{rule.text} {reason}")
    return _as_result(f"cel: {rule.text}", outcome, rule)


def _as_result(name: str, outcome: RuleOutcome, rule: Rule) -> RuleResult:
    """The recorded form; the contract author's own message comes first."""
    told = ": ".join(part for part in (rule.message, outcome.message) if part)
    return RuleResult(
        rule=name,
        passed=outcome.passed,
        message="" if outcome.passed else told,
        path=outcome.path,
        measured=outcome.measured,
    )


def _command_outcome(command: str, ran: Sequence[CommandResult]) -> RuleOutcome:
    found = next((result for result in ran if result.command == command), None)
    if found is None:
        return broken(f"`{command}` was not run: what was not measured does not count as passed")
    if found.exit_code != 0:
        tail = found.output.strip()[-300:]
        return broken(
            f"`{command}` ended with {found.exit_code}{': ' + tail if tail else ''}", measured=found.exit_code
        )
    return held(0)
