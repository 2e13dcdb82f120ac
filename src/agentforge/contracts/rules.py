"""Finding a rule by its sentence or id, and judging it. Unknown rules are refused when the contract is loaded."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from agentforge.contracts.contract import ContractRule, Sort
from agentforge.contracts.nearest import near_hint
from agentforge.contracts.rule import NamedRule, NotMeasuredError, RuleCase, RuleOutcome
from agentforge.contracts.rulebook import code, delivery, plan, repair, request, specification, speed, strength, suite
from agentforge.errors import ContractInvalid


@functools.cache
def rulebook() -> Mapping[str, NamedRule]:
    """Every named rule by its squeezed sentence and by its id."""
    table: dict[str, NamedRule] = {}
    for family in (request, specification, suite, code, speed, strength, repair, plan, delivery):
        for rule in family.RULES:
            for name in (_key(rule.sentence), rule.rule_id):
                if name in table:
                    raise ContractInvalid(f"two rules are called {name!r}")
                table[name] = rule
    return table


def all_rules() -> tuple[NamedRule, ...]:
    """Every named rule once, in the order of the stages."""
    return tuple(dict.fromkeys(rulebook().values()))


def find_rule(name: str, *, source: str) -> NamedRule:
    """Find a rule by its sentence (case and white space do not matter) or its id.

    Raises:
        ContractInvalid: there is no such rule; names the nearest ones.
    """
    found = rulebook().get(_key(name))
    if found is None:
        sentences = [rule.sentence for rule in all_rules()]
        raise ContractInvalid(f"{source}: unknown rule {name!r}", hint=near_hint(name, sentences))
    return found


def sort_of(rule: ContractRule, *, source: str) -> Sort:
    """Say what follows when a rule of a contract does not hold: as its entry says, else as the rulebook says."""
    if rule.sort:
        return rule.sort
    return find_rule(rule.text, source=source).sort if rule.kind == "named" else "fact"


def judge(rule: NamedRule, case: RuleCase) -> RuleOutcome:
    """Judge a case; a rule whose facts are missing does not hold."""
    try:
        return rule.judge(case)
    except NotMeasuredError as exc:
        message = f"{exc}: what was not measured does not count as passed"
        return RuleOutcome(passed=False, message=message, unmeasured=True)


def _key(name: str) -> str:
    return " ".join(name.split()).rstrip(".").casefold()
