"""ty, which comes with AgentForge: all of it where the project configures it, else defects alone."""

from __future__ import annotations

import json
from dataclasses import replace

from agentforge.conformance.engine.configuration import any_file, tool_table
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.sarif import from_sarif
from agentforge.conformance.engine.site import Check, Site, crash_of, own_program, skipping
from agentforge.workspace.processes.process import Completed

_UNRESOLVED = ("unresolved-import", "import-not-found")
_DEFECTS = (
    "invalid-syntax",
    "unresolved-reference",
    "missing-argument",
    "too-many-positional-arguments",
    "unknown-argument",
    "parameter-already-assigned",
    "index-out-of-bounds",
)
"""Rules that hardly err on code without annotations; the others are notes unless the project configures ty."""


def _run(site: Site) -> list[Finding]:
    done, with_environment = _check(site)
    if done.exit_code not in (0, 1):
        raise crash_of(done)
    configured = tool_table(site.checkout, "ty") is not None or any_file(site.checkout, ("ty.toml",))
    found = site.within(from_sarif(json.loads(done.output), check="ty", roots=site.roots))
    return [
        finding
        if configured
        else replace(finding, level=finding.level if finding.rule_id in _DEFECTS else "note", ours=True)
        for finding in found
        if with_environment or finding.rule_id not in _UNRESOLVED
    ]


def _check(site: Site) -> tuple[Completed, bool]:
    """Check with the project's environment where ty accepts it, else without; tells which."""
    command = [own_program("ty"), "check", "--no-progress", "--output-format", "sarif"]
    command += ["--project", str(site.top)]
    if site.interpreter:
        done = site.run_own([*command, "--python", site.interpreter, "--", *site.python_paths])
        if done.exit_code in (0, 1):
            return done, True
    return site.run_own([*command, "--", *site.python_paths]), False


CHECK = Check(name="ty", skip=skipping("ty"), run=_run)
