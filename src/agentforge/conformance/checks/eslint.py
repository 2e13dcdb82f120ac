"""The project's own eslint, when the project configures it and it stands in node_modules."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from agentforge.conformance.engine.configuration import STEERING, any_file
from agentforge.conformance.engine.finding import Finding, Level
from agentforge.conformance.engine.fix import Edit, applied
from agentforge.conformance.engine.site import Check, Site, crash_of, skipping
from agentforge.conformance.programs.checkers import SCRIPTS, SUFFIXES, package_of, program_of

_CONFIGS = tuple(name for name in STEERING if "eslint" in name and name != ".eslintignore")
_ERROR = 2


def _results(site: Site, paths: tuple[str, ...]) -> list[dict[str, Any]]:
    command = [program_of(site, "eslint"), "--format", "json", "--no-error-on-unmatched-pattern", "--"]
    done = site.run_project([*command, *paths])
    if done.exit_code not in (0, 1):
        raise crash_of(done)
    found: list[dict[str, Any]] = json.loads(done.output)
    return found


def _run(site: Site) -> list[Finding]:
    return [
        site.finding(
            "eslint", message.get("ruleId") or "parsing", message["message"], result["filePath"],
            message.get("line") or 0, message.get("column") or 0, level=_level(message["severity"]), fixable="fix" in message,
        )
        for result in _results(site, site.paths_with(*SUFFIXES))
        for message in result["messages"]
    ]  # fmt: skip


def _fix(site: Site, findings: Sequence[Finding]) -> Mapping[str, bytes]:
    """Make the edits that the rules offer, of exactly these findings."""
    wanted = {(finding.path, finding.rule_id, finding.line) for finding in findings}
    changed = {}
    for result in _results(site, tuple(sorted({finding.path for finding in findings}))):
        path = site.relative(result["filePath"])
        repairs = [
            [Edit(start=message["fix"]["range"][0], end=message["fix"]["range"][1], text=message["fix"]["text"])]
            for message in result["messages"]
            if "fix" in message and (path, message.get("ruleId"), message.get("line")) in wanted
        ]
        if repairs:
            text = (site.checkout / path).read_text("utf-8")
            changed[path] = _in_utf16(text, repairs).encode()
    return changed


def _in_utf16(text: str, repairs: list[list[Edit]]) -> str:
    """Make edits whose offsets count UTF-16 units, as JavaScript does: every unit is one sign of a stand-in text."""
    units = text.encode("utf-16-le")
    stand_in = "".join(map(chr, struct.unpack(f"<{len(units) // 2}H", units)))
    done = applied(stand_in, repairs)
    return done.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _level(severity: int) -> Level:
    return "error" if severity == _ERROR else "warning"


CHECK = Check(
    name="eslint",
    skip=skipping(
        "eslint",
        SUFFIXES,
        SCRIPTS,
        configured=lambda site: any_file(site.checkout, _CONFIGS) or "eslintConfig" in package_of(site),
        there=lambda site: program_of(site, "eslint"),
    ),
    run=_run,
    fix=_fix,
)
