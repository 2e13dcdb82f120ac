"""A violation: a finding that a repository has now, and how it stands. And the base line that lets old ones be. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.recognition import known_again, told_once
from agentforge.errors import ConfigError

Status = Literal["open", "baselined", "exempt"]

BASELINE = ".agentforge/baseline.json"
_ID_LENGTH = 10
_KEPT = ("fingerprint", "content", "check", "rule_id", "path", "message")


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A finding that counts, or would count.

    Attributes:
        snippet: its line of the file, "" when it speaks of the whole file.
        imported: read from another tool's SARIF file; nobody here can look again.
    """

    finding: Finding
    status: Status
    snippet: str = ""
    imported: bool = False

    @property
    def violation_id(self) -> str:
        """`V-` and the beginning of the fingerprint: the same as long as line and file are."""
        return violation_id(self.finding)

    def value(self) -> dict[str, object]:
        """The value of its file in `.agentforge/violations/`."""
        finding = self.finding
        return {
            "violation_id": self.violation_id,
            "status": self.status,
            "severity": finding.level,
            "rule": finding.rule,
            "check": finding.check,
            "rule_id": finding.rule_id,
            "contract": finding.contract or None,
            "message": finding.message,
            "file": finding.path,
            "line": finding.line or None,
            "column": finding.column or None,
            "snippet": self.snippet or None,
            "hint": finding.hint or None,
            "fixable": finding.fixable,
            "exempt_because": finding.exempt or None,
            "source": "imported" if self.imported else "measured",
            "fingerprint": finding.fingerprint,
            "fix_with": None if self.imported else f"agentforge fix {self.violation_id}",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A finding of the base line."""

    fingerprint: str
    content: str
    check: str
    rule_id: str
    path: str
    message: str


def violation_id(finding: Finding) -> str:
    """Name a finding for people."""
    return f"V-{finding.fingerprint[:_ID_LENGTH]}"


def violations(
    findings: Iterable[Finding],
    *,
    baseline: Sequence[Remembered],
    present: Iterable[str],
    lines: Mapping[tuple[str, int], str],
    imported: frozenset[str] = frozenset(),
) -> tuple[Violation, ...]:
    """Tell how each finding stands; notes are none of them.

    Args:
        present: paths of the repository, so that a renamed file is known from a copied line.
        lines: source lines by (path, number).
        imported: names of the checks whose findings came from a file.
    """
    counted = [finding for finding in told_once(findings) if finding.level != "note"]
    old = known_again(counted, baseline, present=present)
    return tuple(
        Violation(
            finding=finding,
            status="exempt" if finding.exempt else "baselined" if finding.fingerprint in old else "open",
            snippet=lines.get((finding.path, finding.line), "").strip()[:200],
            imported=finding.check in imported,
        )
        for finding in counted
    )


def baseline_text(found: Iterable[Violation]) -> str:
    """Write a base line: everything that is open or was in the base line, in an order that diffs well."""
    rows = [
        {name: getattr(one.finding, name) for name in _KEPT}
        for one in sorted(found, key=lambda one: (one.finding.path, one.finding.rule, one.finding.fingerprint))
        if one.status != "exempt"
    ]
    return json.dumps({"version": 1, "findings": rows}, indent=1, ensure_ascii=False) + "\n"


def read_baseline(text: str, *, source: str) -> tuple[Remembered, ...]:
    """Read a base line.

    Raises:
        ConfigError: it is not one.
    """
    try:
        document = json.loads(text)
        return tuple(Remembered(**{name: str(row[name]) for name in _KEPT}) for row in document["findings"])
    except (ValueError, LookupError, TypeError) as exc:
        raise ConfigError(
            f"{source} is not a base line: {exc}", hint="write it anew with `agentforge conformance baseline`"
        ) from exc
