"""What the contracts for code make of findings: their severity, their exemptions, and the exemptions that ran out. Pure."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from agentforge.conformance.contracts.code_contract import CodeContracts
from agentforge.conformance.engine.finding import Finding


def governed(findings: Iterable[Finding], contracts: CodeContracts, *, today: date) -> list[Finding]:
    """Give findings the severity that a contract sets, mark the exempt ones, and add a finding per expired exemption.

    Args:
        today: the day on which exemptions are looked at.
    """
    judged = [_exempted(_adopted(finding, contracts), contracts, today) for finding in findings]
    return judged + _expired(contracts, today)


def _adopted(finding: Finding, contracts: CodeContracts) -> Finding:
    """A `finding:` rule takes what another check found under the contract's own severity."""
    for rule in contracts.rules:
        if rule.kind != "finding" or not rule.holds(finding.path):
            continue
        if fnmatch.fnmatchcase(finding.rule, str(rule.settings["named"])):
            return replace(
                finding, level=rule.level, contract=rule.contract, hint=rule.hint or finding.hint, ours=False
            )
    return finding


def _exempted(finding: Finding, contracts: CodeContracts, today: date) -> Finding:
    for exemption in contracts.exemptions:
        if not exemption.expired(today) and exemption.covers(finding):
            return replace(finding, exempt=exemption.reason)
    return finding


def _expired(contracts: CodeContracts, today: date) -> list[Finding]:
    return [
        Finding(
            check="exemptions",
            rule_id="expired",
            level="error",
            message=f"the exemption from {item.rule} ({item.reason}) expired on {item.expires}",
            path=item.source,
            contract=item.contract,
            hint="correct the code and remove the exemption, or renew it with a reason",
        )
        for item in contracts.exemptions
        if item.expired(today)
    ]
