"""The use case `fix`: violations, measured anew at the base, become tasks that repair them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.app.composition.run_inputs import base_commit
from agentforge.app.conformance.check_run import close, is_of_rule, known, lines_at, texts
from agentforge.app.tasks.start_options import StartOptions
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.conformance import (
    BASELINE,
    CheckReport,
    Violation,
    chosen_checks,
    contracts_in,
    read_baseline,
    run_checks,
    violations,
    with_commands,
)
from agentforge.errors import ToolchainError, UsageError
from agentforge.frozen import dataclass
from agentforge.store.log.records import utc_now
from agentforge.suite import detect
from agentforge.workspace.git.repository import Git
from agentforge.workspace.sandbox.box import Preference, choose

if TYPE_CHECKING:
    pass

_NOT_BY_A_RUN = {"exemptions": "an exemption is a person's decision: renew it or remove it by hand"}
_NAMED_IN_REQUEST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class FixTarget:
    """What `fix` was asked to repair.

    Attributes:
        ids: violations by id or the beginning of one; each becomes a task of its own.
        rule: every open violation of this rule (an id, check/id, or a pattern), together in one task per rule.
        all: every open violation, one task per rule.
        baselined: those of the base line, too.
    """

    ids: tuple[str, ...] = ()
    rule: str | None = None
    all: bool = False
    baselined: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FixPlan:
    """What is to be done.

    Attributes:
        options: of each task to start.
        gone: ids that no longer stand at the base; they were taken out of the listing.
    """

    options: tuple[StartOptions, ...]
    gone: tuple[str, ...] = ()


def plan(target: FixTarget, start: StartOptions, *, settings: Settings, environ: Mapping[str, str]) -> FixPlan:
    """Measure the base commit and say which tasks repair what was asked for.

    Args:
        start: the options that all tasks share; its request is ignored.
    Raises:
        UsageError: an id that nobody knows, or that no run can repair.
        ToolchainError: a check that is needed could not do its work.
    Side effects: takes violations that are gone out of the listing.
    """
    git = Git.open(start.cwd)
    base = base_commit(start, git, data=data_dir(environ))
    fixed = replace(start, base=None if start.include_dirty else base, workflow="fix")
    if target.ids:
        groups, gone = _by_id(target, git, base, settings=settings, environ=environ)
    else:
        groups, gone = _by_rule(target, git, base, settings=settings, environ=environ), ()
    options = [replace(fixed, request=_request(group), violations=_values(group)) for group in groups]
    return FixPlan(options=tuple(options), gone=gone)


def _by_id(
    target: FixTarget, git: Git, base: str, *, settings: Settings, environ: Mapping[str, str]
) -> tuple[list[list[Violation]], tuple[str, ...]]:
    """One group per id; the listing only tells where to look."""
    groups: list[list[Violation]] = []
    gone: list[str] = []
    for text in target.ids:
        row = _listed(git.top, text)
        paths = [str(row["file"])] if row else None
        only = str(row["check"]) if row else None
        measured = _measured(git, base, settings=settings, environ=environ, paths=paths, only=only)
        found = [one for one in measured[1] if one.violation_id.startswith(text)]
        if len(found) > 1:
            raise UsageError(f"{text!r} matches {len(found)} violations", hint="give more characters of the id")
        if found:
            _refuse_what_no_run_repairs(found[0])
            groups.append(found)
            continue
        _explain_absence(row, text, measured[0], git)
        gone.append(str(row["violation_id"]) if row else text)
        if row:
            close(git.top, str(row["violation_id"]))
    return groups, tuple(gone)


def _by_rule(
    target: FixTarget, git: Git, base: str, *, settings: Settings, environ: Mapping[str, str]
) -> list[list[Violation]]:
    """One group per rule, the rules in the order in which they were first found."""
    report, found = _measured(git, base, settings=settings, environ=environ)
    if report.crashed:
        crash = report.crashed[0]
        raise ToolchainError(f"{crash.check} could not do its work: {crash.reason}", hint="repair it, or fix by id")
    groups: dict[str, list[Violation]] = {}
    for one in found:
        wanted = one.status == "open" or (target.baselined and one.status == "baselined")
        if (
            wanted
            and one.finding.check not in _NOT_BY_A_RUN
            and (target.rule is None or is_of_rule(one.value(), target.rule))
        ):
            groups.setdefault(one.finding.rule, []).append(one)
    return list(groups.values())


def _listed(top: Path, text: str) -> dict[str, object] | None:
    """The row of the last check that an id means; None when there is none."""
    rows = [row for row in known(top) if str(row["violation_id"]).startswith(text)]
    if len(rows) > 1:
        raise UsageError(f"{text!r} matches {len(rows)} violations", hint="give more characters of the id")
    if rows and rows[0]["source"] == "imported":
        raise UsageError(
            f"{rows[0]['violation_id']} was imported: AgentForge cannot check whether it is gone",
            hint="let a contract for code run its tool (`command:`), then fix what that finds",
        )
    return rows[0] if rows else None


def _measured(
    git: Git,
    base: str,
    *,
    settings: Settings,
    environ: Mapping[str, str],
    paths: Sequence[str] | None = None,
    only: str | None = None,
) -> tuple[CheckReport, tuple[Violation, ...]]:
    """Run the checks over files of the base commit; None = all of them.

    Args:
        only: the one check to run; None = all of them.
    """
    present = git.list_files(base)
    with tempfile.TemporaryDirectory(prefix="agentforge-fix-") as folder:
        checkout = Path(folder).resolve() / "tree"
        git.materialise(git.tree_of(base), checkout)
        report = _report(checkout, git, paths or present, settings=settings, environ=environ, only=only)
        findings = [one for one in report.findings if paths is None or one.path in paths]
        lines = lines_at(checkout, findings)
    text = git.show(base, BASELINE)
    baseline = read_baseline(text.decode("utf-8", "replace"), source=BASELINE) if text else ()
    return report, violations(findings, baseline=baseline, present=present, lines=lines)


def _report(
    checkout: Path, git: Git, paths: Sequence[str], *, settings: Settings, environ: Mapping[str, str], only: str | None
) -> CheckReport:
    table = settings.table("checks")
    trusted = table.get("project_code") is True
    checks = chosen_checks(disabled=texts(table.get("disable")), project=git.top if trusted else None)
    return run_checks(
        checkout,
        mount_at=git.top,
        sandbox=choose(
            cast("Preference", settings.text("sandbox.kind", "auto")), hidden=settings.folders("sandbox.hidden")
        ),
        paths=paths,
        checks=[check for check in checks if only is None or check.name == only],
        interpreter=detect(git.top, settings=settings.table("test"), environ=environ).tools_python or None,
        contracts=with_commands(contracts_in(checkout), texts(table.get("commands"))),
        today=date.fromisoformat(utc_now()[:10]),
    )


def _refuse_what_no_run_repairs(one: Violation) -> None:
    if one.finding.check in _NOT_BY_A_RUN:
        raise UsageError(f"{one.violation_id} cannot be fixed by a run", hint=_NOT_BY_A_RUN[one.finding.check])
    if one.status == "exempt":
        raise UsageError(f"{one.violation_id} is exempt: {one.finding.exempt}", hint="remove the exemption first")


def _explain_absence(row: Mapping[str, object] | None, text: str, report: CheckReport, git: Git) -> None:
    """Say why a violation is not found at the base, unless it is simply gone."""
    crashed = [one for one in report.crashed if row is None or one.check == row["check"]]
    if crashed:
        raise ToolchainError(f"{crashed[0].check} could not do its work: {crashed[0].reason}", hint="repair it first")
    if row is None:
        raise UsageError(f"no violation {text!r}", hint="`agentforge conformance check` shows what there is")
    dirty = git.is_dirty()
    if row["file"] in dirty:
        raise UsageError(
            f"{row['violation_id']} is in uncommitted changes of {row['file']}",
            hint="commit them, or start from the files as they are: --include-dirty",
        )


def _request(group: Sequence[Violation]) -> str:
    """What the task is for, as its request and the source of its id."""
    first = group[0].finding
    if len(group) == 1:
        place = f"{first.path}:{first.line}" if first.line else first.path
        return f"Fix {first.rule} in {place}: {first.message} ({group[0].violation_id})"
    files = list(dict.fromkeys(one.finding.path for one in group))
    more = f" and {len(files) - _NAMED_IN_REQUEST} more" if len(files) > _NAMED_IN_REQUEST else ""
    return f"Fix {first.rule}, {len(group)} violations in {', '.join(files[:_NAMED_IN_REQUEST])}{more}"


def _values(group: Sequence[Violation]) -> tuple[dict[str, object], ...]:
    return tuple(one.finding.value() for one in group)
