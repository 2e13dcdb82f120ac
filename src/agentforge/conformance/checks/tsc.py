"""The project's own TypeScript compiler as a type check: `tsc --noEmit` where there is a tsconfig.json."""

from __future__ import annotations

import re

from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Check, Site, crash_of
from agentforge.conformance.programs.checkers import SCRIPTS, SUFFIXES, program_of

_LINE = re.compile(r"(?P<path>[^\s(][^(\n]*)\((?P<line>\d+),(?P<column>\d+)\): error (?P<rule>TS\d+): (?P<message>.*)")
_WHOLE = re.compile(r"error (?P<rule>TS\d+): (?P<message>.*)")


def _skip(site: Site) -> str | None:
    if not site.paths_with(*SUFFIXES):
        return f"no {SCRIPTS} among the changed files"
    if not (site.checkout / "tsconfig.json").is_file():
        return "the project has no tsconfig.json"
    program_of(site, "tsc")
    return None


def _run(site: Site) -> list[Finding]:
    done = site.run_project([program_of(site, "tsc"), "--noEmit", "--pretty", "false", "--incremental", "false"])
    findings = [finding for line in done.text.splitlines() if (finding := _finding(line, site)) is not None]
    broken = [line for line in done.text.splitlines() if _WHOLE.match(line)]
    if done.exit_code not in (0, 1, 2) or broken or (done.exit_code != 0 and not findings):
        raise crash_of(done)
    return site.within(findings)


def _finding(line: str, site: Site) -> Finding | None:
    """A diagnosis with a place; one without a place is about the settings, and nothing was checked."""
    match = _LINE.fullmatch(line.rstrip())
    if match is None:
        return None
    place = (match["path"], int(match["line"]), int(match["column"]))
    return site.finding("tsc", match["rule"], match["message"], *place)


CHECK = Check(name="tsc", skip=_skip, run=_run)
