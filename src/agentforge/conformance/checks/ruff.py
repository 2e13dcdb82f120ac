"""ruff, which comes with AgentForge: by the project's own configuration, else by a few rules of ours."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.conformance.engine.configuration import any_file, tool_table
from agentforge.conformance.engine.finding import Finding, Level
from agentforge.conformance.engine.fix import repaired_files
from agentforge.conformance.engine.sarif import from_sarif
from agentforge.conformance.engine.site import Check, Site, crash_of, own_program, skipping

_CONFIG_NAMES = ("ruff.toml", ".ruff.toml")
_SELECT = "E9,F,B,PLE"
_LONG_STANDING = ("E4", "E7", "E9", "F", "PLE", "invalid-syntax")
"""What ruff checked by default through many versions: a configuration without a selection meant these."""
_UNREADABLE = ("E9", "invalid-syntax")
_DEFECTS = (
    *("E9", "PLE", "invalid-syntax"),
    *("F402", "F404", "F407", "F50", "F52", "F601", "F602", "F62", "F63", "F7", "F81", "F82", "F9"),
    *("B002", "B003", "B006", "B012", "B015", "B018", "B020", "B023", "B025", "B029", "B030", "B031", "B032", "B035"),
)
"""Rules (by prefix) that name a defect whatever a project's taste is; the others of `_SELECT` are notes."""


def _run(site: Site) -> list[Finding]:
    configured = [path for path in site.python_paths if _is_configured(site, path)]
    others = [path for path in site.python_paths if path not in configured]
    findings = _by_project_rules(site, configured) if configured else []
    return findings + (_by_own_rules(site, others) if others else [])


def _fix(site: Site, findings: Sequence[Finding]) -> Mapping[str, bytes]:
    """Make the edits that ruff calls safe, of exactly these findings."""
    rules = ",".join(sorted({finding.rule_id for finding in findings}))
    command = [own_program("ruff"), "check", "--no-cache", "--no-fix", "--quiet", "--select", rules]
    return repaired_files(site, command, findings)


def _is_configured(site: Site, path: str) -> bool:
    """Whether a ruff configuration of the project holds for the file."""
    folders = [site.checkout / parent for parent in PurePosixPath(path).parents]
    return any(any_file(folder, _CONFIG_NAMES) or tool_table(folder, "ruff") is not None for folder in folders)


def _pinned(site: Site, path: str) -> tuple[str, ...] | None:
    """The rules, by prefix, that the nearest configuration asks for; None where it says itself which rules hold.

    Without a selection of its own this ruff's defaults decide, and they change from version to version: of these only the
    long-standing ones are the project's, and what it adds by `extend-select`.
    """
    for parent in PurePosixPath(path).parents:
        table = _table(site.checkout / parent)
        if table is not None:
            lint = table.get("lint")
            parts = [table, lint] if isinstance(lint, dict) else [table]
            if any("select" in part for part in parts):
                return None
            more = [rule for part in parts for rule in part.get("extend-select") or ()]
            return (*_LONG_STANDING, *(str(rule) for rule in more))
    return _LONG_STANDING


def _table(folder: Path) -> dict[str, Any] | None:
    """What a folder says to ruff; None when it says nothing."""
    for name in _CONFIG_NAMES:
        if (folder / name).is_file():
            try:
                return tomllib.loads((folder / name).read_text("utf-8", "replace"))
            except ValueError:
                return {}
    return tool_table(folder, "ruff")


def _by_project_rules(site: Site, paths: list[str]) -> list[Finding]:
    """What the project asks for counts. A configuration that this ruff cannot read is told, and our rules hold."""
    done = site.run_own([*_command(), "--force-exclude", "--", *paths])
    if done.exit_code in (0, 1):
        found = from_sarif(json.loads(done.output), check="ruff", roots=site.roots)
        pinned = {path: _pinned(site, path) for path in paths}
        return [replace(one, level=_level(one, pinned.get(one.path))) for one in found]
    reason = " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
    told = Finding(
        check="ruff",
        rule_id="configuration",
        level="note",
        message=f"the project's ruff configuration cannot be used, the default rules hold: {reason}",
        path="pyproject.toml",
    )
    return [told, *_by_own_rules(site, paths)]


def _level(finding: Finding, pinned: tuple[str, ...] | None) -> Level:
    return "error" if pinned is None or "ALL" in pinned or finding.rule_id.startswith(pinned) else "note"


def _by_own_rules(site: Site, paths: list[str]) -> list[Finding]:
    done = site.run_own([*_command(), "--isolated", "--select", _SELECT, "--", *paths])
    if done.exit_code not in (0, 1):
        raise crash_of(done)
    found = from_sarif(json.loads(done.output), check="ruff", roots=site.roots)
    return [
        replace(
            one,
            level="error" if one.rule_id.startswith(_DEFECTS) else "note",
            ours=not one.rule_id.startswith(_UNREADABLE),
        )
        for one in found
    ]


def _command() -> list[str]:
    return [own_program("ruff"), "check", "--no-cache", "--no-fix", "--quiet", "--output-format", "sarif"]


CHECK = Check(name="ruff", skip=skipping("ruff"), run=_run, fix=_fix)
