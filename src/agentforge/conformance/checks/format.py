"""ruff format, where the project configures it: a file that would be written otherwise is a finding."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from agentforge.conformance.configuration import tool_table
from agentforge.conformance.finding import Finding
from agentforge.conformance.ruff_edits import repaired_files
from agentforge.conformance.site import Check, Site, crash_of, own_program

_RULE = "unformatted"


def _skip(site: Site) -> str | None:
    if not site.python_paths:
        return "no Python file among the changed files"
    return None if _is_configured(site) else "the project does not configure ruff format"


def _is_configured(site: Site) -> bool:
    import tomllib

    table = tool_table(site.checkout, "ruff")
    if table is not None:
        return "format" in table
    files = [site.checkout / name for name in ("ruff.toml", ".ruff.toml")]
    return any("format" in tomllib.loads(file.read_text("utf-8")) for file in files if file.is_file())


def _command() -> list[str]:
    return [own_program("ruff"), "format", "--check", "--no-cache", "--quiet", "--force-exclude"]


def _run(site: Site) -> list[Finding]:
    done = site.run_own([*_command(), "--output-format", "json", "--", *site.python_paths])
    if done.exit_code not in (0, 1):
        raise crash_of(done)
    rows = [row for row in json.loads(done.output) if row["code"] == _RULE]  # what does not parse is another check's
    paths = dict.fromkeys(site.relative(row["filename"]) for row in rows)
    return [
        Finding(
            check="format",
            rule_id=_RULE,
            level="error",
            message="the file is not as `ruff format` writes it",
            path=path,
            fixable=True,
        )
        for path in paths
    ]


def _fix(site: Site, findings: Sequence[Finding]) -> Mapping[str, bytes]:
    return repaired_files(site, _command(), findings)


CHECK = Check(name="format", skip=_skip, run=_run, fix=_fix)
