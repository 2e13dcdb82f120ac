"""Repairs that need no thought: checks repair their own findings in a checkout of ours, pass after pass."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentforge.conformance.engine.check_engine import line_reader
from agentforge.conformance.engine.finding import Finding, fingerprinted
from agentforge.conformance.engine.site import Check, Site, crash_of, own_program


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replace a part of a file.

    Attributes:
        start, end: offsets in characters, end exclusive.
    """

    start: int
    end: int
    text: str


def applied(text: str, repairs: Iterable[Sequence[Edit]]) -> str:
    """Make repairs, each of one or more edits, in a text; one that touches what an earlier one changed is left out."""
    chosen: list[Edit] = []
    for repair in repairs:
        if all(not _touches(edit, other) for edit in repair for other in chosen):
            chosen += [edit for edit in repair if edit not in chosen]
    for edit in sorted(chosen, key=lambda one: (one.start, one.end), reverse=True):
        text = f"{text[: edit.start]}{edit.text}{text[edit.end :]}"
    return text


def offset_of(text: str, *, row: int, column: int) -> int:
    """Turn a row and a column, both from 1, into an offset; a place behind the end is the end."""
    lines = text.split("\n")
    if row > len(lines):
        return len(text)
    before = sum(len(line) + 1 for line in lines[: row - 1])
    return min(before + column - 1, len(text))


def _touches(edit: Edit, other: Edit) -> bool:
    """Whether two edits change the same place; the same edit asked for twice does not."""
    return (
        edit != other and edit.start < max(other.end, other.start + 1) and other.start < max(edit.end, edit.start + 1)
    )


_PASSES = 8


def fix_findings(site: Site, findings: Sequence[Finding], *, checks: Sequence[Check]) -> dict[str, bytes]:
    """Let the checks repair findings; only the files in which they stand are changed.

    A Python file that was as `ruff format` writes it is so afterwards.

    Returns:
        The new content of each file that changed.
    Raises:
        CheckCrashedError: a check could not do its work.
    Side effects: writes files of the site's checkout.
    """
    able = [check for check in checks if check.fix is not None and any(one.check == check.name for one in findings)]
    paths = sorted({finding.path for finding in findings})
    python = [path for path in paths if path.endswith((".py", ".pyi"))]
    untidy = set(unformatted(site, python)) if able and python else set()
    before = {path: (site.checkout / path).read_bytes() for path in paths}
    for check in able:
        _repair(check, site, [one for one in findings if one.check == check.name])
    changed = [path for path in paths if (site.checkout / path).read_bytes() != before[path]]
    tidied = [path for path in changed if path in python and path not in untidy]
    if tidied:
        _write(site, repaired_files(site, format_command(), [_untidy(path) for path in tidied]), paths=tidied)
    after = {path: (site.checkout / path).read_bytes() for path in changed}
    return {path: data for path, data in after.items() if data != before[path]}


def _repair(check: Check, site: Site, findings: Sequence[Finding]) -> None:
    """One check, until it changes nothing more or nothing is left of what it should repair."""
    assert check.fix is not None
    wanted = {finding.fingerprint for finding in findings}
    paths = sorted({finding.path for finding in findings})
    left = list(findings)
    for _ in range(_PASSES):
        if not left or not _write(site, check.fix(site, left), paths=paths):
            return
        found = fingerprinted(check.run(site), read_line=line_reader(site.checkout))
        left = [finding for finding in found if finding.fingerprint in wanted]


def _write(site: Site, contents: Mapping[str, bytes], *, paths: Sequence[str]) -> bool:
    """Write what differs, in the files that may be written; tells whether anything did."""
    changed = {
        path: data for path, data in contents.items() if path in paths and (site.checkout / path).read_bytes() != data
    }
    for path, data in changed.items():
        (site.checkout / path).write_bytes(data)
    return bool(changed)


def _untidy(path: str) -> Finding:
    return Finding(check="format", rule_id=UNFORMATTED, level="note", message="", path=path)


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
