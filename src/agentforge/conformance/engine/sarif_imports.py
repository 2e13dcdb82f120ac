"""Findings that other tools left in SARIF files: reading them, and telling whether their lines still stand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from agentforge.conformance.engine.check_engine import line_reader
from agentforge.conformance.engine.finding import Finding, content_of, fingerprinted
from agentforge.conformance.engine.sarif import imported
from agentforge.errors import UsageError


def fresh_imports(files: Iterable[Path], *, top: Path) -> list[Finding]:
    """Read SARIF files.

    Raises:
        UsageError: a file that is not there or no SARIF 2.1.0.
    """
    found: list[Finding] = []
    for file in files:
        try:
            found += imported(json.loads(file.read_text("utf-8")), roots=(top, top.resolve()))
        except (OSError, ValueError, TypeError, AttributeError, LookupError) as exc:
            raise UsageError(f"{file} cannot be imported: {exc}", hint="give a SARIF 2.1.0 file") from exc
    return list(fingerprinted(found, read_line=line_reader(top)))


def still_there(findings: Sequence[Finding], *, top: Path) -> list[Finding]:
    """Those whose line still stands in its file, wherever it stands now."""
    read: dict[str, list[str]] = {}
    kept = []
    for finding in findings:
        if finding.path not in read:
            file = top / finding.path
            read[finding.path] = file.read_text("utf-8", "replace").splitlines() if file.is_file() else []
        lines = read[finding.path]
        same = [number for number, line in enumerate(lines, start=1) if content_of(finding, line) == finding.content]
        if same:
            kept.append(replace(finding, line=min(same, key=lambda number: abs(number - finding.line))))
        elif not finding.line and lines:
            kept.append(finding)
    return kept
