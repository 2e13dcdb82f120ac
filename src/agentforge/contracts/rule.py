"""What a named rule is: a sentence, a short id and a pure function over a case. The rules are in rulebook/."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field

from agentforge.contracts.contract import STAGE_OF, Json, Sort
from agentforge.frozen import dataclass

_SHOWN = 24


class NotMeasuredError(Exception):
    """A fact or an earlier artifact that a rule needs is not there: the rule does not hold (fail closed)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """What one rule says.

    Attributes:
        message: "" when it holds; else what is wrong, where, and what to do.
        path: the first wrong place in the artifact, "" when the artifact is not to blame.
        measured: the number or value that was looked at, for the report.
        unmeasured: it does not hold because what it judges was not measured at all.
        follows: it does not hold only because of what another rule tells.
    """

    passed: bool
    message: str = ""
    path: str = ""
    measured: object = None
    unmeasured: bool = False
    follows: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCase:
    """What a rule looks at. The readers bear artifacts of any shape: the schema says what is wrong with those.

    Attributes:
        facts: measured by execution for this stage; never taken from the artifact.
        inputs: earlier artifacts, by contract name or by stage name.
    """

    artifact: Json
    facts: Json = field(default_factory=dict)
    inputs: Mapping[str, Json] = field(default_factory=dict)

    def fact(self, name: str) -> object:
        """Read a measured fact.

        Raises:
            NotMeasuredError: it is not there.
        """
        if self.facts.get(name) is None:
            raise NotMeasuredError(f"{name} was not measured")
        return self.facts[name]

    def fact_list(self, name: str) -> list[object]:
        """Read a measured list; anything else counts as not measured."""
        value = self.fact(name)
        if not isinstance(value, Sequence) or isinstance(value, str | bytes):
            raise NotMeasuredError(f"{name} was not measured as a list")
        return list(value)

    def fact_records(self, name: str) -> list[Json]:
        """Read a measured list of records."""
        records = [item for item in self.fact_list(name) if isinstance(item, Mapping)]
        if len(records) != len(self.fact_list(name)):
            raise NotMeasuredError(f"{name} was not measured as a list of records")
        return records

    def fact_record(self, name: str) -> Json:
        """Read a measured record."""
        value = self.fact(name)
        if not isinstance(value, Mapping):
            raise NotMeasuredError(f"{name} was not measured as a record")
        return value

    def input(self, contract: str) -> Json | None:
        """Find an earlier artifact, None when that stage did not run."""
        return self.inputs.get(contract) or self.inputs.get(STAGE_OF.get(contract, contract))

    def needed_input(self, contract: str) -> Json:
        """Find an earlier artifact that the rule cannot do without.

        Raises:
            NotMeasuredError: it is not there.
        """
        found = self.input(contract)
        if found is None:
            raise NotMeasuredError(f"there is no {contract}")
        return found


JudgeRule = Callable[[RuleCase], RuleOutcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRule:
    """A rule that a contract may name.

    Attributes:
        rule_id: short, stable; what results are recorded under.
        sentence: how a contract names it (the id works too).
        sort: what follows when it does not hold, where the contract says nothing else.
    """

    rule_id: str
    sentence: str
    judge: JudgeRule
    sort: Sort


def named(*rows: tuple[str, str, JudgeRule, Sort]) -> tuple[NamedRule, ...]:
    """Make rules of rows: id, sentence, what judges, what follows when it does not hold."""
    return tuple(
        NamedRule(rule_id=rule_id, sentence=sentence, judge=judge, sort=sort) for rule_id, sentence, judge, sort in rows
    )


def entries(record: object, name: str) -> list[tuple[str, Json]]:
    """The records in the list `name` of a record, each with its path; what is no record is left out."""
    value = record.get(name) if isinstance(record, Mapping) else None
    if not isinstance(value, list):
        return []
    return [(f"{name}[{number}]", item) for number, item in enumerate(value) if isinstance(item, Mapping)]


def strings(record: object, name: str) -> list[tuple[str, str]]:
    """The strings in the list `name` of a record, each with its path; what is no string is left out."""
    value = record.get(name) if isinstance(record, Mapping) else None
    if not isinstance(value, list):
        return []
    return [(f"{name}[{number}]", item) for number, item in enumerate(value) if isinstance(item, str)]


def text(record: Json, name: str) -> str:
    """The string under `name`, stripped; "" for anything else."""
    value = record.get(name)
    return value.strip() if isinstance(value, str) else ""


def squeeze(value: str) -> str:
    """White space made single and case folded, for comparing what people and models wrote."""
    return " ".join(value.split()).casefold()


def held(measured: object = None) -> RuleOutcome:
    """The rule holds."""
    return RuleOutcome(passed=True, measured=measured)


def broken(message: str, *, path: str = "", measured: object = None) -> RuleOutcome:
    """The rule does not hold."""
    return RuleOutcome(passed=False, message=message, path=path, measured=measured)


def judged(wrong: Iterable[tuple[str, str]], *, measured: object, fix: str) -> RuleOutcome:
    """Hold when nothing is wrong; else name every wrong (path, problem), the first few in words.

    Args:
        fix: what to do, put after a dash.
    """
    listed = list(wrong)
    if not listed:
        return held(measured)
    shown = [f"{path} {problem}".strip() for path, problem in listed[:_SHOWN]]
    if len(listed) > _SHOWN:
        shown.append(f"and {len(listed) - _SHOWN} more")
    return broken(f"{'; '.join(shown)} - {fix}", path=listed[0][0], measured=measured)


def none_of(items: Iterable[object], *, what: str, fix: str) -> RuleOutcome:
    """Hold when a measured list of bad things is empty."""
    items = list(items)
    if not items:
        return held(0)
    listed = _united(items)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return broken(f"{what}: {', '.join(listed[:_SHOWN])}{more} - {fix}", measured=len(items))


def _united(items: Iterable[object]) -> list[str]:
    """What is measured, one text each; what is said of several lines of a file is said once, with all of them."""
    places: dict[tuple[str, str], list[int]] = {}
    texts: dict[str, None] = {}
    for item in items:
        line = item.get("line") if isinstance(item, Mapping) else None
        if not isinstance(item, Mapping) or not isinstance(line, int):
            texts[describe(item)] = None
            continue
        name, reason = _name_and_reason(item)
        known = places.setdefault((name, reason), [])
        if line not in known:
            known.append(line)
    united = [f"{name}:{', '.join(map(str, lines))} {reason}".strip() for (name, reason), lines in places.items()]
    return [*united, *texts]


def empty(fact: str, *, what: str, fix: str) -> JudgeRule:
    """Make the rule that a measured list of bad things is empty.

    Args:
        fact: its name.
        what: what stands in it, for people; fix: what to do.
    """
    return lambda case: none_of(case.fact_list(fact), what=what, fix=fix)


def describe(item: object) -> str:
    """One measured thing in a few words, whatever its shape."""
    if not isinstance(item, Mapping):
        return str(item)[:160]
    name, reason = _name_and_reason(item)
    line = f":{item['line']}" if isinstance(item.get("line"), int) else ""
    return f"{name}{line} {reason}".strip()


def _name_and_reason(item: Mapping[str, object]) -> tuple[str, str]:
    name = item.get("id") or item.get("path") or item.get("check") or item.get("name") or ""
    reason = item.get("reason") or item.get("message") or item.get("text") or item.get("stub") or ""
    return str(name), str(reason).strip()[:160]


def examples_found(case: RuleCase) -> set[str]:
    """The user's examples that a measurement found where they belong, by their text."""
    return {str(item.get("text")) for item in case.fact_records("examples") if item.get("found") is True}
