"""The project's own bandit: all of it where it is configured, grave findings alone where it is only installed."""

from __future__ import annotations

import json
from typing import Any

from agentforge.conformance.engine.configuration import any_file, ini_section, tool_table
from agentforge.conformance.engine.finding import Finding, Level
from agentforge.conformance.engine.site import Check, Site, crash_of, has_module, not_installed

_LEVELS: dict[str, Level] = {"HIGH": "error", "MEDIUM": "warning", "LOW": "warning"}


def _skip(site: Site) -> str | None:
    if not site.python_paths:
        return "no Python file among the changed files"
    configured, installed = _configuration(site) is not None, has_module(site, "bandit")
    if configured and not installed:
        raise not_installed("the project's interpreter has no bandit", check="bandit")
    return None if installed else "the project has no bandit"


def _configuration(site: Site) -> list[str] | None:
    """The flags that name the project's configuration; None when it has none."""
    if any_file(site.checkout, ("bandit.yaml",)):
        return ["-c", "bandit.yaml"]
    if tool_table(site.checkout, "bandit") is not None:
        return ["-c", "pyproject.toml"]
    return ["--ini", ".bandit"] if ini_section(site.checkout / ".bandit", "bandit") is not None else None


def _run(site: Site) -> list[Finding]:
    flags = _configuration(site)
    command = [str(site.interpreter), "-I", "-m", "bandit", "-f", "json", "-q", *(flags or [])]
    done = site.run_project([*command, *site.python_paths])
    if done.exit_code not in (0, 1):
        raise crash_of(done)
    return [
        site.finding(
            "bandit", row["test_id"], row["issue_text"], row["filename"].removeprefix("./"), row["line_number"],
            int(row.get("col_offset", -1)) + 1, level=_level(row, configured=flags is not None), ours=flags is None,
        )
        for row in json.loads(done.output)["results"]
    ]  # fmt: skip


def _level(row: dict[str, Any], *, configured: bool) -> Level:
    if configured:
        return _LEVELS.get(row["issue_severity"], "warning")
    return "error" if row["issue_severity"] == row["issue_confidence"] == "HIGH" else "note"


CHECK = Check(name="bandit", skip=_skip, run=_run)
