"""The records of a contract: its schema, its rules, where it came from. Reading one is dialect.py's work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from agentforge.canonical import Digest
from agentforge.frozen import dataclass

Json = Mapping[str, object]

STAGE_OF: Mapping[str, str] = {
    "intake_record": "intake",
    "clarification": "clarify",
    "analysis": "analyze",
    "specification": "spec",
    "test_suite": "red",
    "implementation": "green",
    "deliverable": "refactor",
    "delivery_report": "deliver",
}
"""The builtin contracts in the order of the stages that produce them."""

FIX_STAGE_OF: Mapping[str, str] = {
    "violation_analysis": "analyze",
    "guard_suite": "guard",
    "violation_fix": "change",
    "fix_verification": "verify",
    "fix_report": "deliver",
}
"""The builtin contracts of the workflow that repairs violations, in the order of its stages."""

SPLIT_STAGE_OF: Mapping[str, str] = {"plan": "plan"}
"""The builtin contract of the workflow that splits a request over repositories."""

RuleKind = Literal["named", "cel", "command"]

Sort = Literal["fact", "repair", "note"]
"""What follows when a rule does not hold: a fact refuses the artifact; what a repair rule asks for the harness mends or drops
before it judges, and says so; a note is told to the reviewer of the delivery. Only a fact refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractRule:
    """One entry of a contract's `validation:` list.

    Attributes:
        text: the sentence or id of a named rule, a CEL expression, or a command line.
        message: what to say when it does not hold; "" = the rule's own words.
        sort: what follows when it does not hold; "" = the named rule's own, a fact for the other kinds.
    """

    kind: RuleKind
    text: str
    message: str = ""
    sort: Sort | Literal[""] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """A contract that was loaded and found sound.

    Attributes:
        json_schema: the schema as JSON Schema 2020-12.
        document: the contract as it was written (after `extends` was merged), for showing and for extending it.
        source: where it was read, for messages.
        digest: of `document`; the same contract has the same digest wherever it was read.
    """

    name: str
    version: str
    description: str
    json_schema: Json
    rules: tuple[ContractRule, ...]
    document: Json
    source: str
    digest: Digest

    @property
    def commands(self) -> tuple[str, ...]:
        """The command lines whose results `check` wants to see."""
        return tuple(rule.text for rule in self.rules if rule.kind == "command")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """What came of a `{command: ...}` rule. Running it is the caller's work.

    Attributes:
        output: the tail of what it printed; shown when it failed.
    """

    command: str
    exit_code: int
    output: str = ""


def to_json_schema(contract: Contract) -> Json:
    """Give the contract's schema as JSON Schema 2020-12. It was translated once, when the contract was loaded."""
    return contract.json_schema
