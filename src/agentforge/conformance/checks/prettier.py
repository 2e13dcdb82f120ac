"""The project's own prettier, where it is configured: files that it would write otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentforge.conformance.engine.configuration import STEERING, any_file
from agentforge.conformance.engine.difference import with_difference
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Check, CheckCrashedError, Site, crash_of, skipping
from agentforge.conformance.programs.checkers import SUFFIXES, package_of, program_of

_LOOKED_AT = (*SUFFIXES, ".json", ".css", ".scss", ".less", ".html", ".vue", ".md", ".yaml", ".yml", ".graphql")
_CONFIGS = tuple(name for name in STEERING if "prettier" in name and name != ".prettierignore")


def _run(site: Site) -> list[Finding]:
    paths = site.paths_with(*_LOOKED_AT)
    done = site.run_project([program_of(site, "prettier"), "--list-different", "--ignore-unknown", "--", *paths])
    told = {site.relative(line.strip()) for line in done.output.decode("utf-8", "replace").splitlines() if line.strip()}
    if done.exit_code not in (0, 1) or not told <= set(paths) or (done.exit_code == 1 and not told):
        raise crash_of(done)  # 2: a file cannot be parsed, or prettier itself failed
    message = "is not formatted as prettier does it"
    found = [site.finding("prettier", "unformatted", message, path, 1, fixable=True) for path in sorted(told)]
    return with_difference(site, found, _fix)


def _fix(site: Site, findings: Sequence[Finding]) -> Mapping[str, bytes]:
    """What prettier makes of each file."""
    changed = {}
    for path in sorted({finding.path for finding in findings}):
        done = site.run_project([program_of(site, "prettier"), "--", path])
        if done.exit_code != 0 or not done.output:
            raise CheckCrashedError(
                f"prettier could not format {path}: {done.stderr[-200:].decode('utf-8', 'replace')}"
            )
        changed[path] = done.output
    return changed


CHECK = Check(
    name="prettier",
    skip=skipping(
        "prettier",
        _LOOKED_AT,
        "file that prettier formats",
        configured=lambda site: any_file(site.checkout, _CONFIGS) or "prettier" in package_of(site),
        there=lambda site: program_of(site, "prettier"),
    ),
    run=_run,
    fix=_fix,
)
