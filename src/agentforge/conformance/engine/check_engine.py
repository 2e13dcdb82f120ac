"""Running the checks over a checkout, and comparing two runs: what is new against the base.

What the contracts for code make of findings: their severity, their exemptions, and the exemptions that ran out. Pure.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from agentforge.conformance.contracts.code_contract import FOLDER, NO_CONTRACTS, CodeContracts, read_contracts
from agentforge.conformance.engine.catalogue import builtin_checks, check_names
from agentforge.conformance.engine.configuration import reaches_out, steered_by
from agentforge.conformance.engine.finding import Finding, finding_from, fingerprinted
from agentforge.conformance.engine.recognition import known_again, told_once
from agentforge.conformance.engine.site import Check, CheckCrashedError, NotInstalledError, Site
from agentforge.errors import AgentForgeError, ContractInvalid
from agentforge.workspace.sandbox.box import Sandbox

_NOTED = 50
_OF_FILES = frozenset({"complexity", "format", "ruff", "secrets", "size", "syntax", "ty"})
"""Checks that come with AgentForge and read nothing but the checkout, its contracts and the packages of its Python."""
_FAILURES = (CheckCrashedError, AgentForgeError, OSError, ValueError, LookupError, TypeError)
"""What running a check and reading its output can raise: all of it is a crash of the check, none of it ends the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """A check that gave no findings to judge by, and why.

    Attributes:
        missing: its tool is not installed here: the same would be so at the base, where nothing that it looks at may stand yet.
    """

    check: str
    reason: str
    missing: bool = False

    def value(self) -> dict[str, object]:
        """Give it as a JSON value."""
        return {"check": self.check, "reason": self.reason, **({"missing": True} if self.missing else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What all checks said of one checkout.

    Attributes:
        ran: names of the checks whose findings are here.
        crashed: could not do their work though they apply; never "passed".
        skipped: have nothing to do here.
        steering: configuration files whose base version was used instead of the checkout's.
        lasting: whether the same files get the same report while `surroundings` stay: no check crashed, every one comes with
            AgentForge, and no configuration names what lies outside of the checkout.
    """

    findings: tuple[Finding, ...]
    ran: tuple[str, ...]
    crashed: tuple[Absence, ...] = ()
    skipped: tuple[Absence, ...] = ()
    steering: tuple[str, ...] = ()
    lasting: bool = field(default=False, compare=False)

    def value(self) -> dict[str, object]:
        """Give the report as a JSON value, to be recorded or cached."""
        return {
            "findings": [finding.value() for finding in self.findings],
            "ran": list(self.ran),
            "crashed": [absence.value() for absence in self.crashed],
            "skipped": [absence.value() for absence in self.skipped],
            "steering": list(self.steering),
        }


def report_from(value: Mapping[str, Any]) -> CheckReport:
    """Read a report back from `CheckReport.value`.

    Raises:
        KeyError, TypeError: it is no such value.
    """
    crashed, skipped = (tuple(Absence(**one) for one in value[name]) for name in ("crashed", "skipped"))
    return CheckReport(
        findings=tuple(map(finding_from, value["findings"])), ran=tuple(value["ran"]), crashed=crashed, skipped=skipped,
        steering=tuple(value["steering"]),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What changed from the base to now.

    Attributes:
        new: findings that count and that the base does not have.
        notes: new findings that do not count.
        gone: fingerprints of counting findings that the base has and this tree has not, in the files looked at.
        crashed: checks that crashed now and not at the base.
        unavailable: checks that crashed at the base, or whose tool is not installed: they measure nothing here, and nobody is
            blamed.
    """

    new: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    gone: tuple[str, ...]
    crashed: tuple[Absence, ...]
    unavailable: tuple[Absence, ...]
    before: int
    after: int
    ran: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """No new finding and no new crash."""
        return not self.new and not self.crashed

    def facts(self) -> dict[str, object]:
        """Give the comparison as the fact `conformance` that rules judge."""
        return {
            "passed": self.passed,
            "new": [finding.value() for finding in self.new],
            "crashed": [absence.value() for absence in self.crashed],
            "unavailable": [absence.value() for absence in self.unavailable],
            "notes": len(self.notes),
            "noted": [finding.value() for finding in self.notes if finding.level != "note"][:_NOTED],
            "before": self.before,
            "after": self.after,
            "ran": list(self.ran),
        }


def run_checks(
    checkout: Path,
    *,
    mount_at: Path,
    sandbox: Sandbox,
    paths: Sequence[str],
    checks: Sequence[Check] | None = None,
    interpreter: str | None = None,
    base: Path | None = None,
    contracts: CodeContracts | None = None,
    today: date | None = None,
    timeout_s: float = 300.0,
) -> CheckReport:
    """Run the checks that apply over files of a checkout.

    Args:
        mount_at: the user's repository path, where the project's own tools find the checkout.
        paths: relative to the checkout; what does not exist in it is left out.
        checks: None = all builtin ones.
        interpreter: the project's own Python, absolute.
        base: a checkout of the base commit whose configuration is used; None = the checkout's own.
        contracts: contracts for code; None = those in the folder of the base, else of the checkout.
        today: the day on which exemptions are looked at; None = none has expired.
        timeout_s: for each program that a check runs.
    Raises:
        ContractInvalid: a contract for code that cannot be read.
    Side effects: the checkout's configuration files are exchanged for a while when `base` is given.
    """
    rules = contracts_in(base or checkout) if contracts is None else contracts
    site = Site(
        checkout=checkout,
        mount_at=mount_at,
        sandbox=sandbox,
        paths=own_files(checkout, paths),
        interpreter=interpreter,
        rules=rules.rules,
        timeout_s=timeout_s,
    )
    chosen = builtin_checks() if checks is None else list(checks)
    inside = not reaches_out(base or checkout, site.paths)
    with steered_by(base, checkout, paths=site.paths) as steering:
        report = _run_all(chosen, site, rules, steering=steering, today=today or date.min)
    return replace(report, lasting=inside and _of_files_alone(report))


def _of_files_alone(report: CheckReport) -> bool:
    """Whether every check came with AgentForge, none crashed, and those that ran read the checkout and packages alone."""
    known = {*report.ran, *(absence.check for absence in report.skipped)} <= set(check_names())
    return known and not report.crashed and _OF_FILES.issuperset(report.ran)


def contracts_in(folder: Path) -> CodeContracts:
    """Read the contracts for code of a checkout.

    Raises:
        ContractInvalid: one of them cannot be read.
    """
    texts = {}
    for file in sorted((folder / FOLDER).glob("*.yaml")):
        try:
            texts[f"{FOLDER}/{file.name}"] = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as exc:
            raise ContractInvalid(f"{file} cannot be read: {exc}", hint="save it as UTF-8 text") from exc
    return read_contracts(texts) if texts else NO_CONTRACTS


def compare(base: CheckReport | None, now: CheckReport) -> Comparison:
    """Compare a run with the run at the base: what is new, what can no longer be told.

    Args:
        base: None when there is nothing to compare with; then every finding is new.
    """
    gone = [*base.crashed, *(one for one in now.crashed if one.missing)] if base else []
    lost = {absence.check: absence for absence in gone}
    judged = [finding for finding in now.findings if finding.check not in lost]
    before = list(base.findings) if base else []
    same = known_again(judged, before)
    fresh = told_once(finding for finding in judged if finding.fingerprint not in same)
    counted = [finding for finding in told_once(before) if finding.counts]
    still = set(same.values())
    return Comparison(
        new=tuple(finding for finding in fresh if finding.counts),
        notes=tuple(finding for finding in fresh if not finding.counts),
        gone=tuple(finding.fingerprint for finding in counted if finding.fingerprint not in still),
        crashed=tuple(absence for absence in now.crashed if absence.check not in lost),
        unavailable=tuple(lost.values()),
        before=len(counted),
        after=sum(finding.counts for finding in told_once(judged)),
        ran=tuple(name for name in now.ran if name not in lost),
    )


def line_reader(checkout: Path) -> Callable[[str, int], str]:
    """Give a function that reads source lines by path and number from 1, each file once; "" where there is none."""
    files: dict[str, list[str]] = {}

    def read(path: str, line: int) -> str:
        if path not in files:
            file = checkout / path
            files[path] = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else []
        lines = files[path]
        return lines[line - 1] if 0 < line <= len(lines) else ""

    return read


def own_files(checkout: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Those of the paths that are files of the checkout, sorted."""
    return tuple(sorted({path for path in paths if _is_own_file(checkout, path)}))


def _is_own_file(checkout: Path, path: str) -> bool:
    """Whether the path is a file that lies in the checkout; a link out of it is not looked at."""
    real = (checkout / path).resolve()
    return real.is_file() and real.is_relative_to(checkout.resolve())


def _run_all(
    checks: Sequence[Check], site: Site, contracts: CodeContracts, *, steering: tuple[str, ...], today: date
) -> CheckReport:
    findings: list[Finding] = []
    ran: list[str] = []
    crashed: list[Absence] = []
    skipped: list[Absence] = []
    for check in checks:
        try:
            reason = check.skip(site)
            if reason is not None:
                skipped.append(Absence(check=check.name, reason=reason))
                continue
            findings += check.run(site)
            ran.append(check.name)
        except _FAILURES as exc:
            missing = isinstance(exc, NotInstalledError)
            crashed.append(Absence(check=check.name, reason=f"{exc or type(exc).__name__}"[:500], missing=missing))
    return CheckReport(
        findings=fingerprinted(governed(findings, contracts, today=today), read_line=line_reader(site.checkout)),
        ran=tuple(ran),
        crashed=tuple(crashed),
        skipped=tuple(skipped),
        steering=steering,
    )


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
