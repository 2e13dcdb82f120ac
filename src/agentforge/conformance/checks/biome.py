"""The project's own biome, where it is configured: its lints and its formatting, by its JSON reporter."""

from __future__ import annotations

import json
from typing import Any

from agentforge.conformance.engine.configuration import any_file
from agentforge.conformance.engine.finding import Finding, Level
from agentforge.conformance.engine.site import Check, CheckCrashedError, Site, crash_of, skipping
from agentforge.conformance.programs.checkers import SCRIPTS, SUFFIXES, program_of

_CONFIGS = ("biome.json", "biome.jsonc")
_LEVELS: dict[str, Level] = {"fatal": "error", "error": "error", "warning": "warning"}


def _run(site: Site) -> list[Finding]:
    options = ["--reporter=json", "--max-diagnostics=none", "--no-errors-on-unmatched"]
    done = site.run_project([program_of(site, "biome"), "check", *options, "--", *site.paths_with(*SUFFIXES)])
    if done.exit_code not in (0, 1):
        raise crash_of(done)
    try:
        told = json.loads(done.output)["diagnostics"]
    except (ValueError, LookupError, TypeError) as exc:
        raise CheckCrashedError(f"biome printed no report: {done.text[-300:].strip()}") from exc
    findings = [_finding(one, site) for one in told if one.get("severity") in _LEVELS]
    if done.exit_code == 1 and not findings:
        raise crash_of(done)
    return site.within(findings)


def _finding(told: dict[str, Any], site: Site) -> Finding:
    place = told.get("location") or {}
    path = place.get("path") or ""
    path = path.get("file", "") if isinstance(path, dict) else str(path)
    start = place.get("start") if isinstance(place.get("start"), dict) else None
    line, column = (start.get("line", 0), start.get("column", 0)) if start else _position(place, site, path)
    rule, level = str(told.get("category") or "error"), _LEVELS[told["severity"]]
    return site.finding("biome", rule, _message(told), path, line, column, level=level)


def _message(told: dict[str, Any]) -> str:
    if told.get("category") == "format":
        return "is not formatted as biome does it"
    message = told.get("message") or told.get("description") or ""
    if isinstance(message, list):
        message = "".join(str(part.get("content", "")) for part in message)
    return str(told.get("description") or message)


def _position(place: dict[str, Any], site: Site, path: str) -> tuple[int, int]:
    """The line and column of a span of bytes, as biome 1 tells it."""
    span = place.get("span")
    file = site.checkout / site.relative(path)
    if not isinstance(span, list) or not span or not file.is_file():
        return 0, 0
    before = file.read_bytes()[: int(span[0])]
    return before.count(b"\n") + 1, len(before) - before.rfind(b"\n")


CHECK = Check(
    name="biome",
    skip=skipping(
        "biome",
        SUFFIXES,
        SCRIPTS,
        configured=lambda site: any_file(site.checkout, _CONFIGS),
        there=lambda site: program_of(site, "biome"),
    ),
    run=_run,
)
