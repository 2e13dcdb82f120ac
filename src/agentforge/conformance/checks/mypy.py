"""The project's own mypy, when the project configures it and its interpreter has it."""

from __future__ import annotations

import re

from agentforge.conformance.engine.configuration import any_file, ini_section, tool_table
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Check, Site, crash_of, needs_module, skipping

_FLAGS = (
    "--no-error-summary",
    "--show-column-numbers",
    "--show-error-codes",
    "--no-pretty",
    "--no-color-output",
    "--hide-error-context",
    "--cache-dir=/dev/null",
)
_LINE = re.compile(
    r"(?P<path>[^:\n]+):(?P<line>\d+):(?:(?P<column>\d+):)? error: (?P<message>.*?)(?:  \[(?P<rule>[a-z0-9-]+)\])?"
)
_WHOLE_PROJECT = ("files", "packages", "modules")


def _settings(site: Site) -> dict[str, object] | None:
    """mypy's own order: mypy.ini, .mypy.ini, pyproject.toml, setup.cfg."""
    for name in ("mypy.ini", ".mypy.ini"):
        if any_file(site.checkout, (name,)):
            return dict(ini_section(site.checkout / name, "mypy") or {})
    table = tool_table(site.checkout, "mypy")
    if table is not None:
        return table
    section = ini_section(site.checkout / "setup.cfg", "mypy")
    return dict(section) if section is not None else None


def _run(site: Site) -> list[Finding]:
    whole = any(name in (_settings(site) or {}) for name in _WHOLE_PROJECT)
    targets = () if whole else ("--", *site.python_paths)
    done = site.run_project([str(site.interpreter), "-I", "-m", "mypy", *_FLAGS, *targets])
    findings = [finding for line in done.text.splitlines() if (finding := _finding(line, site))]
    syntax_alone = done.exit_code == 2 and findings and all(f.rule_id == "syntax" for f in findings)
    if (done.exit_code not in (0, 1) and not syntax_alone) or (done.exit_code == 1 and not findings):
        raise crash_of(done)
    return findings if whole else site.within(findings)


def _finding(line: str, site: Site) -> Finding | None:
    match = _LINE.fullmatch(line.rstrip())
    if match is None:
        return None
    place = (match["path"], int(match["line"]), int(match["column"] or 0))
    return site.finding("mypy", match["rule"] or "error", match["message"], *place)


CHECK = Check(
    name="mypy",
    skip=skipping("mypy", configured=lambda site: _settings(site) is not None, there=needs_module("mypy")),
    run=_run,
)
