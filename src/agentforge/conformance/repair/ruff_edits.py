"""The edits that ruff offers for findings, made in the text of their files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Site, crash_of, own_program
from agentforge.conformance.repair.edits import Edit, applied, offset_of

UNFORMATTED = "unformatted"
_SAFE = "safe"
_SYNTAX = "invalid-syntax"
_FAILED = 2


def format_command() -> list[str]:
    """ruff format with all its flags but the output format and the paths; it writes nothing."""
    return [own_program("ruff"), "format", "--check", "--no-cache", "--quiet", "--force-exclude"]


def unformatted(site: Site, paths: Sequence[str]) -> list[str]:
    """Those of the files that ruff format would write otherwise; one that does not parse is not among them.

    Raises:
        CheckCrashedError: ruff ended in a way that means nothing.
    """
    rows = [row for row in _rows(site, format_command(), paths) if row["code"] == UNFORMATTED]
    return list(dict.fromkeys(site.relative(row["filename"]) for row in rows))


def repaired_files(site: Site, command: Sequence[str], findings: Sequence[Finding]) -> Mapping[str, bytes]:
    """Give the contents of the files in which ruff has a safe edit for one of the findings.

    Args:
        command: ruff with all its flags but the output format and the paths.
    Raises:
        CheckCrashedError: ruff ended in a way that means nothing.
    """
    paths = sorted({finding.path for finding in findings})
    wanted = {(finding.path, finding.rule_id, finding.line) for finding in findings}
    whole = {(finding.path, finding.rule_id) for finding in findings if not finding.line}
    repairs: dict[str, list[list[Edit]]] = {}
    texts: dict[str, str] = {}
    for row in _rows(site, command, paths):
        path, rule = site.relative(row["filename"]), row["code"] or ""
        meant = (path, rule, row["location"]["row"]) in wanted or (path, rule) in whole
        if meant and row["fix"] and row["fix"]["applicability"] == _SAFE:
            text = texts.setdefault(path, (site.checkout / path).read_bytes().decode("utf-8"))
            repairs.setdefault(path, []).append([_edit(text, edit) for edit in row["fix"]["edits"]])
    return {path: applied(texts[path], found).encode() for path, found in repairs.items()}


def _rows(site: Site, command: Sequence[str], paths: Sequence[str]) -> list[dict[str, Any]]:
    done = site.run_own([*command, "--output-format", "json", "--", *paths])
    if done.exit_code not in (0, 1, 2):
        raise crash_of(done)
    try:
        rows: list[dict[str, Any]] = json.loads(done.output)
    except ValueError as exc:
        raise crash_of(done) from exc
    if done.exit_code == _FAILED and all(row["code"] != _SYNTAX for row in rows):
        raise crash_of(done)  # a file that does not parse is no crash: other checks tell it
    return rows


def _edit(text: str, edit: Mapping[str, Any]) -> Edit:
    start, end = (
        offset_of(text, row=edit[key]["row"], column=edit[key]["column"]) for key in ("location", "end_location")
    )
    return Edit(start=start, end=end, text=edit["content"])
