"""Commands of contracts and settings that print SARIF: run in the sandbox, over a read-only checkout, without network."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from agentforge.conformance.contracts.code_contract import CodeRule
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.sarif import from_sarif, unfinished
from agentforge.conformance.engine.site import Check, CheckCrashedError, Site, crash_of

_PATHS = "{paths}"


def _skip(site: Site) -> str | None:
    return None if site.rules_of("command") else "no contract names a command for these files"


def _run(site: Site) -> list[Finding]:
    return [finding for rule, paths in site.rules_of("command") for finding in _of_rule(site, rule, paths)]


def _of_rule(site: Site, rule: CodeRule, paths: Sequence[str]) -> list[Finding]:
    done = site.run_project(_words(cast("list[str]", rule.settings["argv"]), paths))
    if done.exit_code not in (0, 1):
        raise CheckCrashedError(f"{rule.rule_id} {crash_of(done)}")
    try:
        log = json.loads(done.output)
        broken = unfinished(log)
        found = from_sarif(log, check="command", roots=site.roots)
    except (ValueError, TypeError, AttributeError, LookupError) as exc:
        told = (done.output or done.stderr)[:200].decode("utf-8", "replace").strip()
        raise CheckCrashedError(f"{rule.rule_id} printed no SARIF ({exc}): {told or 'nothing'}") from exc
    if broken:
        raise CheckCrashedError(f"{rule.rule_id} says that it did not end well: {broken}")
    asked = set(paths)
    return [_adopted(finding, rule) for finding in found if finding.path in asked]


def _words(argv: Sequence[str], paths: Sequence[str]) -> list[str]:
    """The command with `{paths}` replaced: alone by the paths as words, inside a word by the paths quoted for a shell."""
    words: list[str] = []
    for word in argv:
        words += paths if word == _PATHS else [word.replace(_PATHS, shlex.join(paths))]
    return words


def _adopted(finding: Finding, rule: CodeRule) -> Finding:
    return replace(
        finding,
        rule_id=f"{rule.rule_id}.{finding.rule_id}",
        level="note" if finding.level == "note" else rule.level,
        contract=rule.contract,
        hint=rule.hint or finding.hint,
    )


CHECK = Check(name="command", skip=_skip, run=_run)
