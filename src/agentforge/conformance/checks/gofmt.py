"""gofmt, the form that Go itself prescribes: a file that it would write otherwise is a finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentforge.conformance.engine.difference import with_difference
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Check, Site, crash_of
from agentforge.conformance.programs.checkers import on_path

_RULE = "unformatted"
_SYNTAX = 2


def _skip(site: Site) -> str | None:
    if not site.paths_with(".go"):
        return "no Go file among the changed files"
    return None if on_path("gofmt") else "gofmt is not installed"


def _run(site: Site) -> list[Finding]:
    done = site.run_project(["gofmt", "-l", *site.paths_with(".go")])
    if done.exit_code not in (0, _SYNTAX):
        raise crash_of(done)
    broken = done.stderr.decode("utf-8", "replace").splitlines()
    message = "the file is not as `gofmt` writes it"
    found = [site.finding("gofmt", _RULE, message, line, fixable=True) for line in done.text.splitlines()]
    return [*with_difference(site, found, _fix), *(_syntax(site, line) for line in broken if line.count(":") >= 3)]


def _syntax(site: Site, line: str) -> Finding:
    path, number, _column, message = line.split(":", 3)
    return site.finding("gofmt", "syntax", message.strip(), path, int(number) if number.isdigit() else 0)


def _fix(site: Site, findings: Sequence[Finding]) -> Mapping[str, bytes]:
    changed = {}
    for path in sorted({finding.path for finding in findings if finding.rule_id == _RULE}):
        done = site.run_project(["gofmt", path])
        if done.exit_code != 0:
            raise crash_of(done)
        changed[path] = done.output
    return changed


CHECK = Check(name="gofmt", skip=_skip, run=_run, fix=_fix)
