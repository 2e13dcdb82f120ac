"""Knowing findings again in another tree: lines that moved, files that were renamed. Pure.

Findings of different checks that say the same of the same line are told once. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from agentforge.conformance.engine.finding import Finding


class KnownViolation(Protocol):
    """What must be remembered of a finding to know it again."""

    @property
    def fingerprint(self) -> str:
        """The same while the finding stays in its file."""

    @property
    def content(self) -> str:
        """The same for equal lines in any file."""

    @property
    def path(self) -> str:
        """Its file."""


def known_again(
    found: Sequence[KnownViolation], before: Iterable[KnownViolation], *, present: Iterable[str] | None = None
) -> Mapping[str, str]:
    """Match findings with earlier ones: fingerprint -> earlier fingerprint.

    First by fingerprint. Then an earlier finding of a file that is gone is known again by its line, in a file that had
    no findings before.

    Args:
        present: paths that exist now; None = the files of `found`.
    """
    earlier = list(before)
    ours = {one.fingerprint for one in found}
    same = {one.fingerprint: one.fingerprint for one in earlier if one.fingerprint in ours}
    here = {one.path for one in found} if present is None else set(present)
    had = {one.path for one in earlier}
    waiting: dict[str, list[str]] = defaultdict(list)
    for one in earlier:
        if one.fingerprint not in ours and one.path not in here:
            waiting[one.content].append(one.fingerprint)
    for one in found:
        if one.fingerprint not in same and one.path not in had and waiting[one.content]:
            same[one.fingerprint] = waiting[one.content].pop(0)
    return same


_SAME: tuple[frozenset[str], ...] = tuple(
    frozenset(names.split())
    for names in (
        "syntax/invalid-syntax ruff/invalid-syntax ruff/E999 flake8/E999 ty/invalid-syntax mypy/syntax",
        "ruff/F821 flake8/F821 ty/unresolved-reference mypy/name-defined pyright/reportUndefinedVariable",
        "ty/unresolved-import mypy/import-not-found pyright/reportMissingImports",
        "ty/missing-argument ty/too-many-positional-arguments ty/unknown-argument ty/parameter-already-assigned"
        " mypy/call-arg pyright/reportCallIssue",
        "ty/invalid-argument-type mypy/arg-type pyright/reportArgumentType",
        "ty/invalid-assignment mypy/assignment pyright/reportAssignmentType",
        "ty/invalid-return-type mypy/return-value pyright/reportReturnType",
        "ty/unresolved-attribute ty/possibly-missing-attribute mypy/attr-defined mypy/union-attr"
        " pyright/reportAttributeAccessIssue pyright/reportOptionalMemberAccess",
        "ty/unsupported-operator mypy/operator pyright/reportOperatorIssue pyright/reportOptionalOperand",
        "ty/call-non-callable mypy/operator mypy/misc pyright/reportCallIssue",
        "ty/not-subscriptable ty/non-subscriptable mypy/index pyright/reportIndexIssue pyright/reportOptionalSubscript",
        "ty/invalid-method-override mypy/override pyright/reportIncompatibleMethodOverride",
        "ty/not-iterable mypy/attr-defined mypy/union-attr pyright/reportGeneralTypeIssues",
        "ty/redundant-cast mypy/redundant-cast pyright/reportUnnecessaryCast",
        "ty/unused-ignore-comment ty/unused-type-ignore-comment mypy/unused-ignore",
    )
)
_LINTERS = ("ruff", "flake8")
_WEIGHT = {"error": 0, "warning": 1, "note": 2}
_ORDER = ("syntax", "ruff", "mypy", "pyright", "ty", "flake8")
"""Who tells a finding that several have: the project's own type checker before ours."""


def told_once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Drop every finding that says of its line what a weightier one says already; order is kept."""
    listed = list(findings)
    kept: dict[tuple[str, int], list[Finding]] = {}
    for finding in sorted(listed, key=_rank):
        here = kept.setdefault((finding.path, finding.line), [])
        if not any(_says_the_same(finding, other) for other in here):
            here.append(finding)
    chosen = {id(finding) for here in kept.values() for finding in here}
    return tuple(finding for finding in listed if id(finding) in chosen)


def _rank(finding: Finding) -> tuple[int, int]:
    place = _ORDER.index(finding.check) if finding.check in _ORDER else len(_ORDER)
    return (0 if finding.counts else _WEIGHT[finding.level] + 1, place)


def _says_the_same(one: Finding, other: Finding) -> bool:
    if one.check == other.check or not one.line:
        return False
    if {one.check, other.check} == set(_LINTERS) and one.rule_id == other.rule_id:
        return True
    return any(one.rule in names and other.rule in names for names in _SAME)
