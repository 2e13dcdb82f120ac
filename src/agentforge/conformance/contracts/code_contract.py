"""Contracts for code: the project's own rules, the places where they hold, and the exemptions from them. Pure.

They are the files of `.agentforge/contracts/` that begin with `kind: code`; the others are contracts between stages.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal

from agentforge.canonical import digest_value
from agentforge.conformance.contracts.code_schema import Reader
from agentforge.conformance.engine.finding import Finding, Level
from agentforge.contracts.strict_yaml import load_strict
from agentforge.errors import ContractInvalid
from agentforge.globs import matches

Enforcement = Literal["block", "report", "off"]
RuleKind = Literal["pattern", "size", "complexity", "command", "finding"]

FOLDER = ".agentforge/contracts"
NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The files that a rule speaks of: path patterns in the manner of .gitignore.

    Attributes:
        include: () = every file.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def holds(self, path: str) -> bool:
        """Whether the path lies inside."""
        inside = not self.include or any(matches(pattern, path) for pattern in self.include)
        return inside and not any(matches(pattern, path) for pattern in self.exclude)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRule:
    """One rule of a contract for code.

    Attributes:
        kind: which check looks for it; "finding" takes the findings of another check under the contract's own severity.
        enforcement: block = violations count, report = they are shown, off = nobody looks.
        message: what people read; "" = the check's own words.
        hint: how to repair a violation.
        scopes: of the contract and of the rule; a file must lie in both.
        settings: what the check of that kind reads.
    """

    rule_id: str
    contract: str
    kind: RuleKind
    description: str
    severity: Level
    enforcement: Enforcement
    message: str = ""
    hint: str = ""
    scopes: tuple[Scope, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def level(self) -> Level:
        """The level of a violation: what is only reported is a note."""
        return self.severity if self.enforcement == "block" else "note"

    def holds(self, path: str) -> bool:
        """Whether the rule speaks of a path."""
        return all(scope.holds(path) for scope in self.scopes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemption:
    """Findings that do not count in some files, for a reason and until a day.

    Attributes:
        rule: an id, `check/id`, or a pattern of these.
        expires: the last day on which it holds; None = the contract says `never`.
        source: file of the contract, relative to the repository.
    """

    rule: str
    paths: tuple[str, ...]
    reason: str
    expires: date | None
    contract: str
    source: str

    def expired(self, today: date) -> bool:
        """Whether it no longer holds."""
        return self.expires is not None and self.expires < today

    def covers(self, finding: Finding) -> bool:
        """Whether it speaks of a finding."""
        named = any(fnmatch.fnmatchcase(name, self.rule) for name in (finding.rule_id, finding.rule))
        return named and any(matches(pattern, finding.path) for pattern in self.paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeContracts:
    """All contracts for code of a repository.

    Attributes:
        names: of the contracts.
        digest: of the documents; changes when any of them does.
    """

    rules: tuple[CodeRule, ...] = ()
    exemptions: tuple[Exemption, ...] = ()
    names: tuple[str, ...] = ()
    digest: str = ""

    def rule(self, rule_id: str) -> CodeRule | None:
        """The rule of that id, None when there is none."""
        return next((rule for rule in self.rules if rule.rule_id == rule_id), None)


NO_CONTRACTS = CodeContracts()


def read_contracts(texts: Mapping[str, str]) -> CodeContracts:
    """Read the contracts for code among the files of a contracts folder.

    Args:
        texts: path relative to the repository -> YAML text.
    Raises:
        ContractInvalid: names file and place.
    """
    rules: list[CodeRule] = []
    exemptions: list[Exemption] = []
    names: list[str] = []
    documents = []
    for source, text in sorted(texts.items()):
        document = load_strict(text, source=source)
        if not isinstance(document, Mapping) or document.get("kind") != "code":
            continue
        reader = Reader(source=source)
        name = reader.name(document)
        if name in names:
            raise ContractInvalid(f"{source}: there is another contract {name!r}", hint="give it another name")
        names.append(name)
        documents.append(document)
        rules += [CodeRule(**values) for values in reader.rules(document, scope=_scope)]
        exemptions += [Exemption(**values) for values in reader.exemptions(document)]
    _refuse_twins(rules)
    return CodeContracts(
        rules=tuple(rules), exemptions=tuple(exemptions), names=tuple(names), digest=digest_value(documents)
    )


def with_commands(contracts: CodeContracts, commands: Sequence[str]) -> CodeContracts:
    """Add commands of the settings, which print SARIF, as rules that hold everywhere."""
    more = tuple(
        CodeRule(
            rule_id=f"command-{number}",
            contract="",
            kind="command",
            description=command,
            severity="error",
            enforcement="block",
            settings={"argv": ["bash", "-c", command]},
        )
        for number, command in enumerate(commands, start=1)
    )
    return replace(contracts, rules=(*contracts.rules, *more)) if more else contracts


def _scope(include: tuple[str, ...], exclude: tuple[str, ...]) -> Scope:
    return Scope(include=include, exclude=exclude)


def _refuse_twins(rules: list[CodeRule]) -> None:
    seen: dict[str, str] = {}
    for rule in rules:
        if rule.rule_id in seen:
            first, second = seen[rule.rule_id], rule.contract
            raise ContractInvalid(f"rule {rule.rule_id!r} stands in {first} and in {second}", hint="rename one of them")
        seen[rule.rule_id] = rule.contract
