"""The project's own rules: ast-grep patterns of its contracts for code, looked for in a process of their own."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentforge.conformance.contracts.code_contract import CodeRule
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.fix import Edit, applied
from agentforge.conformance.engine.site import Check, Site, crash_of
from agentforge.workspace.code.symbols import language_of

_PROGRAM = Path(__file__).parents[1] / "programs" / "pattern_program.py"
_DIALECTS = {"typescript": ("typescript", "tsx"), "javascript": ("javascript", "jsx")}


def _skip(site: Site) -> str | None:
    return None if _asked(site) else "no contract has a pattern for these files"


def _asked(site: Site) -> list[tuple[CodeRule, list[str]]]:
    """Every pattern rule with the files of its language; a language without a known suffix takes all of its scope."""
    found = []
    for rule, paths in site.rules_of("pattern"):
        language = str(rule.settings["language"])
        accepted = _DIALECTS.get(language, (language,))
        chosen = [path for path in paths if (language_of(path) or language) in accepted and _is_explicit(rule, path)]
        if chosen:
            found.append((rule, chosen))
    return found


def _is_explicit(rule: CodeRule, path: str) -> bool:
    """A file whose language nobody knows is looked at only where the rule's own scope names it."""
    return language_of(path) is not None or any(scope.include for scope in rule.scopes)


def _run(site: Site) -> list[Finding]:
    rules = {rule.rule_id: rule for rule, _ in _asked(site)}
    return [_finding(rules[row[0]], row) for row in _matches(site, _asked(site))]


def _matches(site: Site, asked: Sequence[tuple[CodeRule, Sequence[str]]]) -> list[list[Any]]:
    rows = [{"id": rule.rule_id, **rule.settings, "paths": list(paths)} for rule, paths in asked]
    program = _PROGRAM.read_text("utf-8")
    done = site.run_own([sys.executable, "-I", "-c", program], stdin=json.dumps({"rules": rows}).encode())
    if done.exit_code != 0:
        raise crash_of(done)
    found: list[list[Any]] = json.loads(done.output)
    return found


def _finding(rule: CodeRule, row: Sequence[Any]) -> Finding:
    _, path, line, column, _, _, text = row
    return Finding(
        check="pattern",
        rule_id=rule.rule_id,
        level=rule.level,
        message=rule.message or rule.description or f"the pattern of {rule.rule_id} stands here",
        path=path,
        line=line,
        column=column,
        contract=rule.contract,
        hint=rule.hint,
        fixable=text is not None,
    )


def _fix(site: Site, findings: Sequence[Finding]) -> Mapping[str, bytes]:
    """Replace matches of rules that carry a `fix`, at the places of exactly these findings."""
    wanted = {(finding.rule_id, finding.path, finding.line) for finding in findings}
    named = {(rule_id, path) for rule_id, path, _ in wanted}
    asked = [
        (rule, [path for path in paths if (rule.rule_id, path) in named])
        for rule, paths in _asked(site)
        if rule.settings["fix"] is not None
    ]
    repairs: dict[str, list[list[Edit]]] = {}
    for rule_id, path, line, _, start, end, text in _matches(site, [row for row in asked if row[1]]):
        if (rule_id, path, line) in wanted:
            repairs.setdefault(path, []).append([Edit(start=start, end=end, text=text)])
    return {
        path: applied((site.checkout / path).read_bytes().decode("utf-8"), found).encode()
        for path, found in repairs.items()
    }


CHECK = Check(name="pattern", skip=_skip, run=_run, fix=_fix)
