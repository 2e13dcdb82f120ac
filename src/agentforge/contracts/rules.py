"""Finding a rule by its sentence or id, and judging it. Unknown rules are refused when the contract is loaded."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from agentforge.contracts.nearest import near_hint
from agentforge.contracts.rule import Case, NamedRule, NotMeasuredError, RuleOutcome, broken
from agentforge.errors import ContractInvalid


@functools.cache
def rulebook() -> Mapping[str, NamedRule]:
    """Every named rule by its squeezed sentence and by its id."""
    from agentforge.contracts.rulebook import (
        code,
        delivery,
        repair,
        request,
        specification,
        splitting,
        steering,
        strength,
        suite,
    )

    table: dict[str, NamedRule] = {}
    for family in (request, specification, suite, code, steering, strength, repair, splitting, delivery):
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


def judge(rule: NamedRule, case: Case) -> RuleOutcome:
    """Judge a case; a rule whose facts are missing does not hold."""
    try:
        return rule.judge(case)
    except NotMeasuredError as exc:
        return broken(f"{exc}: what was not measured does not count as passed")


def _key(name: str) -> str:
    return " ".join(name.split()).rstrip(".").casefold()
