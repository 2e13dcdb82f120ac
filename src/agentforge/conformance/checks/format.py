"""ruff format, where the project configures it: a file that would be written otherwise is a finding."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence

from agentforge.conformance.engine.configuration import tool_table
from agentforge.conformance.engine.difference import with_difference
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.fix import UNFORMATTED, format_command, repaired_files, unformatted
from agentforge.conformance.engine.site import Check, Site, skipping


def _is_configured(site: Site) -> bool:
    table = tool_table(site.checkout, "ruff")
    if table is not None:
        return "format" in table
    files = [site.checkout / name for name in ("ruff.toml", ".ruff.toml")]
    return any("format" in tomllib.loads(file.read_text("utf-8")) for file in files if file.is_file())


def _run(site: Site) -> list[Finding]:
    message = "the file is not as `ruff format` writes it"
    untidy = unformatted(site, site.python_paths)
    return with_difference(
        site, [site.finding("format", UNFORMATTED, message, path, fixable=True) for path in untidy], _fix
    )


def _fix(site: Site, findings: Sequence[Finding]) -> Mapping[str, bytes]:
    return repaired_files(site, format_command(), findings)


CHECK = Check(name="format", skip=skipping("ruff format", configured=_is_configured), run=_run, fix=_fix)
