"""Judging an artifact by its contract: schema and every rule, all failures at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentforge.contracts.contract import CommandResult, Contract, ContractRule, Json, Sort
from agentforge.contracts.draft import draft_schema
from agentforge.contracts.expression import evaluate
from agentforge.contracts.failures import errors_of, explain
from agentforge.contracts.rule import RuleCase, RuleOutcome, broken, held
from agentforge.contracts.rules import find_rule, judge
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
        sort: what follows when it does not hold.
        follows: it does not hold only because of what another rule tells; recorded where it is so.
    """

    rule: str
    passed: bool
    message: str = ""
    path: str = ""
    measured: object = None
    sort: Sort = "fact"
    follows: bool = False

    @property
    def refuses(self) -> bool:
        """Whether the artifact cannot pass because of it."""
        return not self.passed and self.sort == "fact"

    def value(self) -> dict[str, object]:
        """Give the result as it is recorded."""
        return {
            "rule": self.rule,
            "passed": self.passed,
            "message": self.message,
            "path": self.path,
            "measured": self.measured,
            "sort": self.sort,
            **({"follows": True} if self.follows else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The verdict over an artifact: passed when the schema and every rule of the sort "fact" hold."""

    passed: bool
    results: tuple[RuleResult, ...]

    @property
    def failures(self) -> tuple[RuleResult, ...]:
        """The results that refuse the artifact."""
        return tuple(result for result in self.results if result.refuses)

    @property
    def notes(self) -> tuple[RuleResult, ...]:
        """The results that do not hold and refuse nothing."""
        return tuple(result for result in self.results if not result.passed and not result.refuses)


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
    case = RuleCase(artifact=artifact if isinstance(artifact, Mapping) else {}, facts=facts, inputs=inputs)
    results += [_rule_result(rule, case, contract=contract, ran=command_results) for rule in contract.rules]
    return CheckResult(passed=not any(result.refuses for result in results), results=tuple(results))


def _schema_results(contract: Contract, artifact: object) -> list[RuleResult]:
    """One result when the schema holds, else one for each failure."""
    try:
        errors = errors_of(artifact, contract.json_schema, source=contract.source)
    except ValueError as exc:
        message = f"the artifact is no JSON value: {exc}"
        return [RuleResult(rule=SCHEMA_RULE, passed=False, message=message)]
    if not errors:
        return [RuleResult(rule=SCHEMA_RULE, passed=True)]
    explained = [explain(error, schema=contract.json_schema) for error in errors]
    return [RuleResult(rule=SCHEMA_RULE, passed=False, path=path, message=message) for path, message in explained]


def _rule_result(rule: ContractRule, case: RuleCase, *, contract: Contract, ran: Sequence[CommandResult]) -> RuleResult:
    """Judge one rule of whatever kind."""
    if rule.kind == "named":
        named = find_rule(rule.text, source=contract.source)
        return _as_result(named.rule_id, judge(named, case), rule, sort=rule.sort or named.sort)
    if rule.kind == "command":
        return _as_result(f"command: {rule.text}", _command_outcome(rule.text, ran), rule, sort=rule.sort or "fact")

    passed, reason = evaluate(rule.text, artifact=case.artifact, facts=case.facts, inputs=case.inputs)
    outcome = held() if passed else broken(f"{rule.text} {reason}")
    return _as_result(f"cel: {rule.text}", outcome, rule, sort=rule.sort or "fact")


def _as_result(name: str, outcome: RuleOutcome, rule: ContractRule, *, sort: Sort) -> RuleResult:
    """The recorded form; the contract author's own message comes first. What nobody measured the harness cannot have mended."""
    told = ": ".join(part for part in (rule.message, outcome.message) if part)
    return RuleResult(
        rule=name,
        passed=outcome.passed,
        message="" if outcome.passed else told,
        path=outcome.path,
        measured=outcome.measured,
        sort="fact" if outcome.unmeasured and sort == "repair" else sort,
        follows=outcome.follows,
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
