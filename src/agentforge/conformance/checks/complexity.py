"""Complexity: Python functions with more ways through than a contract for code lets them have (McCabe, by ruff)."""

from __future__ import annotations

import json
from dataclasses import replace

from agentforge.conformance.contracts.code_contract import CodeRule
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.sarif import from_sarif
from agentforge.conformance.engine.site import Check, Site, crash_of, own_program

_RULE = "C901"


def _skip(site: Site) -> str | None:
    return None if _asked(site) else "no contract limits the complexity of these files"


def _asked(site: Site) -> list[tuple[CodeRule, tuple[str, ...]]]:
    python = set(site.python_paths)
    found = [(rule, tuple(path for path in paths if path in python)) for rule, paths in site.rules_of("complexity")]
    return [(rule, paths) for rule, paths in found if paths]


def _run(site: Site) -> list[Finding]:
    return [finding for rule, paths in _asked(site) for finding in _of_rule(site, rule, paths)]


def _of_rule(site: Site, rule: CodeRule, paths: tuple[str, ...]) -> list[Finding]:
    command = [own_program("ruff"), "check", "--isolated", "--no-cache", "--no-fix", "--quiet", "--select", _RULE]
    command += ["--config", f"lint.mccabe.max-complexity={rule.settings['most']}", "--output-format", "sarif"]
    done = site.run_own([*command, "--", *paths])
    if done.exit_code not in (0, 1):
        raise crash_of(done)
    return [
        replace(
            finding,
            rule_id=rule.rule_id,
            level=rule.level,
            message=f"{rule.message}: {finding.message}" if rule.message else finding.message,
            contract=rule.contract,
            hint=rule.hint,
        )
        for finding in from_sarif(json.loads(done.output), check="complexity", roots=site.roots)
        if finding.rule_id == _RULE
    ]


CHECK = Check(name="complexity", skip=_skip, run=_run)
