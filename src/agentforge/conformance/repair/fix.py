"""Repairs that need no thought: checks repair their own findings in a checkout of ours, pass after pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentforge.conformance.engine.check_engine import line_reader
from agentforge.conformance.engine.finding import Finding, fingerprinted
from agentforge.conformance.engine.site import Check, Site
from agentforge.conformance.repair.ruff_edits import UNFORMATTED, format_command, repaired_files, unformatted

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
