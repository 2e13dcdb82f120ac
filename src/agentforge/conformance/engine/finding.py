"""One finding of a check, a subset of a SARIF 2.1.0 result, and the fingerprint by which it is known again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from agentforge.canonical import digest_value

Level = Literal["error", "warning", "note"]

_FINGERPRINT_LENGTH = 16
_OPTIONAL = ("contract", "hint", "fixable", "exempt", "ours")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check found at one place.

    Attributes:
        level: a note is shown and decides nothing.
        path: relative to the top of the repository.
        line: 1-based; 0 = the file as a whole.
        column: 1-based; 0 = the whole line.
        fingerprint: the same before and after lines moved; "" until `fingerprinted`.
        content: the same in a renamed file, too; equal for equal lines; "" until `fingerprinted`.
        contract: the contract for code that asks for it, "" when a tool's own configuration does.
        hint: how to repair it, in the words of the contract or the tool.
        fixable: the check offers a repair that needs no thought.
        exempt: why it does not count here, "" when it does.
        ours: the project pins no such rule: AgentForge's own choice found it, and in a task it is told and refuses nothing.
    """

    check: str
    rule_id: str
    level: Level
    message: str
    path: str
    line: int = 0
    column: int = 0
    fingerprint: str = ""
    content: str = ""
    contract: str = ""
    hint: str = ""
    fixable: bool = False
    exempt: str = ""
    ours: bool = False

    @property
    def counts(self) -> bool:
        """Whether the finding can make a verdict fail."""
        return self.level != "note" and not self.exempt

    @property
    def rule(self) -> str:
        """`check/rule_id`: how people name the rule."""
        return f"{self.check}/{self.rule_id}"

    def value(self) -> dict[str, object]:
        """Give the finding as a JSON value."""
        return {
            "check": self.check,
            "rule_id": self.rule_id,
            "level": self.level,
            "message": self.message,
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "fingerprint": self.fingerprint,
            "content": self.content,
            **{name: value for name in _OPTIONAL if (value := getattr(self, name))},
        }


def finding_from(value: Mapping[str, object]) -> Finding:
    """Read a finding back from `Finding.value`."""
    line, column, level = value.get("line"), value.get("column"), value.get("level")
    return Finding(
        check=str(value["check"]),
        rule_id=str(value["rule_id"]),
        level=level_of(level),
        message=str(value["message"]),
        path=str(value["path"]),
        line=line if isinstance(line, int) else 0,
        column=column if isinstance(column, int) else 0,
        fingerprint=str(value.get("fingerprint", "")),
        content=str(value.get("content", "")),
        contract=str(value.get("contract", "")),
        hint=str(value.get("hint", "")),
        fixable=value.get("fixable") is True,
        exempt=str(value.get("exempt", "")),
        ours=value.get("ours") is True,
    )


def level_of(word: object) -> Level:
    """Map any tool's word for a level to one of ours; an unknown word is an error."""
    if word in ("warning", "warn"):
        return "warning"
    if word in ("note", "none", "info", "information", "hint"):
        return "note"
    return "error"


def fingerprinted(findings: Iterable[Finding], *, read_line: Callable[[str, int], str]) -> tuple[Finding, ...]:
    """Sort findings and give each its fingerprint: check, rule, path, the words of its line, and which of equals it is.

    Args:
        read_line: path and line number -> the source line, "" when there is none.
    """
    seen: Counter[str] = Counter()
    result = []
    for finding in sorted(findings, key=lambda item: (item.path, item.line, item.column, item.check, item.rule_id)):
        words = " ".join(read_line(finding.path, finding.line).split())
        key = digest_value([finding.check, finding.rule_id, finding.path, words])
        mark = digest_value([key, seen[key]])[:_FINGERPRINT_LENGTH]
        seen[key] += 1
        result.append(replace(finding, fingerprint=mark, content=content_of(finding, words)))
    return tuple(result)


def content_of(finding: Finding, line: str) -> str:
    """Name what a finding says of a line, whichever file it stands in."""
    return digest_value([finding.check, finding.rule_id, " ".join(line.split())])[:_FINGERPRINT_LENGTH]
