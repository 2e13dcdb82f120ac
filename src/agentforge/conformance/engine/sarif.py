"""Findings to and from SARIF 2.1.0: the part of it that findings need."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from agentforge.conformance.engine.finding import Finding, level_of

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(
    findings: Iterable[Finding],
    *,
    ran: Sequence[str] = (),
    crashed: Mapping[str, str] | None = None,
    known: Collection[str] = (),
) -> dict[str, object]:
    """Give findings as a SARIF log with one run for each check.

    Args:
        ran: checks that ran, with or without findings.
        crashed: check -> why it could not do its work.
        known: fingerprints of findings that stand in the base line: suppressed, as exempt ones are.
    """
    by_check: dict[str, list[Finding]] = {name: [] for name in (*ran, *(crashed or ()))}
    for finding in findings:
        by_check.setdefault(finding.check, []).append(finding)
    runs = [_run(check, found, (crashed or {}).get(check), known) for check, found in by_check.items()]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": runs}


def from_sarif(log: Mapping[str, object], *, check: str, roots: tuple[Path, ...]) -> list[Finding]:
    """Read the findings of a tool's SARIF log.

    Args:
        check: the name that they get.
        roots: folders that paths are made relative to, the first that fits.
    Raises:
        ValueError: not a SARIF log.
    """
    results = [result for run in _runs(log) for result in run.get("results", [])]
    return [_finding(result, check=check, roots=roots) for result in results]


def imported(log: Mapping[str, object], *, roots: tuple[Path, ...]) -> list[Finding]:
    """Read the findings of a log that another tool left, each under the name of its tool.

    Raises:
        ValueError: not a SARIF log.
    """
    found = []
    for run in _runs(log):
        name = str(run.get("tool", {}).get("driver", {}).get("name") or "imported").lower().replace(" ", "-")
        found += [_finding(result, check=name, roots=roots) for result in run.get("results", [])]
    return found


def unfinished(log: Mapping[str, object]) -> str:
    """What a log says of a run that did not end well; "" when it ended well or says nothing."""
    for run in _runs(log):
        for invocation in run.get("invocations", []):
            if invocation.get("executionSuccessful") is False:
                told = [
                    note.get("message", {}).get("text") for note in invocation.get("toolExecutionNotifications", [])
                ]
                return "; ".join(str(text) for text in told if text) or "executionSuccessful is false"
    return ""


def _runs(log: Mapping[str, object]) -> list[dict[str, Any]]:
    runs = log.get("runs") if isinstance(log, Mapping) else None
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise ValueError("no runs in the SARIF log")
    return runs


def relative_path(path: str, roots: tuple[Path, ...]) -> str:
    """Make a tool's path relative to the repository; one that lies elsewhere is given back as it is."""
    given = Path(path)
    if not given.is_absolute():
        return given.as_posix()
    for root in roots:
        if given.is_relative_to(root):
            return given.relative_to(root).as_posix()
    return path


def _run(check: str, findings: list[Finding], crash: str | None, known: Collection[str]) -> dict[str, object]:
    rules = [{"id": rule_id} for rule_id in dict.fromkeys(finding.rule_id for finding in findings)]
    invocation: dict[str, object] = {"executionSuccessful": crash is None}
    if crash is not None:
        invocation["toolExecutionNotifications"] = [{"level": "error", "message": {"text": crash}}]
    return {
        "tool": {"driver": {"name": check, "rules": rules}},
        "invocations": [invocation],
        "results": [_result(finding, known) for finding in findings],
    }


def _result(finding: Finding, known: Collection[str]) -> dict[str, object]:
    region: dict[str, int] = {"startLine": finding.line} if finding.line else {}
    if finding.line and finding.column:
        region["startColumn"] = finding.column
    location: dict[str, object] = {"artifactLocation": {"uri": quote(finding.path)}}
    suppressed = [{"kind": "external", "justification": finding.exempt}] if finding.exempt else []
    if finding.fingerprint in known:
        suppressed.append({"kind": "external", "justification": "stands in the base line"})
    properties = {key: value for key in ("contract", "hint") if (value := getattr(finding, key))}
    return {
        "ruleId": finding.rule_id,
        "level": finding.level,
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": location | ({"region": region} if region else {})}],
        "partialFingerprints": {"agentforge/v1": finding.fingerprint},
        **({"suppressions": suppressed} if suppressed else {}),
        **({"properties": properties} if properties else {}),
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
        exempt="suppressed by the tool" if result.get("suppressions") else "",
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
