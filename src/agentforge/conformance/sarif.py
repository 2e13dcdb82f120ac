"""Findings to and from SARIF 2.1.0: the part of it that findings need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from agentforge.conformance.finding import Finding, level_of

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(findings: Iterable[Finding]) -> dict[str, object]:
    """Give findings as a SARIF log with one run for each check."""
    by_check: dict[str, list[Finding]] = {}
    for finding in findings:
        by_check.setdefault(finding.check, []).append(finding)
    runs = [
        {"tool": {"driver": {"name": check}}, "results": [_result(finding) for finding in found]}
        for check, found in by_check.items()
    ]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": runs}


def from_sarif(log: Mapping[str, object], *, check: str, roots: tuple[Path, ...]) -> list[Finding]:
    """Read the findings of a tool's SARIF log.

    Args:
        check: the name that they get.
        roots: folders that paths are made relative to, the first that fits.
    Raises:
        ValueError: not a SARIF log.
    """
    runs = log.get("runs")
    if not isinstance(runs, list):
        raise ValueError("no runs in the SARIF log")
    results = [result for run in runs for result in run.get("results", [])]
    return [_finding(result, check=check, roots=roots) for result in results]


def relative_path(path: str, roots: tuple[Path, ...]) -> str:
    """Make a tool's path relative to the repository; one that lies elsewhere is given back as it is."""
    given = Path(path)
    if not given.is_absolute():
        return given.as_posix()
    for root in roots:
        if given.is_relative_to(root):
            return given.relative_to(root).as_posix()
    return path


def _result(finding: Finding) -> dict[str, object]:
    region: dict[str, int] = {"startLine": finding.line} if finding.line else {}
    if finding.column:
        region["startColumn"] = finding.column
    location: dict[str, object] = {"artifactLocation": {"uri": quote(finding.path)}}
    return {
        "ruleId": finding.rule_id,
        "level": finding.level,
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": location | ({"region": region} if region else {})}],
        "partialFingerprints": {"agentforge/v1": finding.fingerprint},
    }


def _finding(result: Mapping[str, object], *, check: str, roots: tuple[Path, ...]) -> Finding:
    """One SARIF result; a syntax error has no rule."""
    message = result.get("message")
    marks = result.get("partialFingerprints")
    path, line, column = _place(result.get("locations"))
    return Finding(
        check=check,
        rule_id=str(result.get("ruleId") or "invalid-syntax"),
        level=level_of(result.get("level", "warning")),
        message=str(message.get("text", "")) if isinstance(message, Mapping) else "",
        path=relative_path(path, roots),
        line=line,
        column=column,
        fingerprint=str(marks.get("agentforge/v1", "")) if isinstance(marks, Mapping) else "",
    )


def _place(locations: object) -> tuple[str, int, int]:
    """Path, line and column of the first location."""
    if not isinstance(locations, list) or not locations:
        return "", 0, 0
    physical = locations[0].get("physicalLocation", {})
    region = physical.get("region", {})
    uri = urlsplit(str(physical.get("artifactLocation", {}).get("uri", "")))
    path = unquote(uri.path) if uri.scheme in ("", "file") else uri.geturl()
    return path, int(region.get("startLine", 0)), int(region.get("startColumn", 0))
