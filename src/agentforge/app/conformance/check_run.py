"""The use cases around conformance: check a repository, remember what it has, list what is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.app.composition.task_queries import repository
from agentforge.config.settings import Settings
from agentforge.conformance import (
    BASELINE,
    CheckReport,
    Finding,
    Violation,
    baseline_text,
    check_names,
    chosen_checks,
    contracts_in,
    finding_from,
    fresh_imports,
    line_reader,
    project_files,
    read_baseline,
    run_checks,
    still_there,
    to_sarif,
    violations,
    with_commands,
)
from agentforge.errors import UsageError, VerificationFailed
from agentforge.frozen import dataclass
from agentforge.store.log.files import replace_file
from agentforge.store.log.records import utc_now
from agentforge.store.tasks.folders import ensure_agentforge_folder
from agentforge.suite import detect
from agentforge.views.yaml_text import dump
from agentforge.workspace.git.queries import working_files
from agentforge.workspace.git.repository import Git
from agentforge.workspace.sandbox.box import Preference, choose

if TYPE_CHECKING:
    pass

FOLDER = ".agentforge/violations"
_INDEX = "index.json"
_IMPORTED = "imported.json"
_TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """What a check of a repository came to.

    Attributes:
        violations: all that count or would count, whatever their status.
        untrusted: files of the project's own checks that were not loaded.
        commit: HEAD; the files themselves may differ from it.
    """

    report: CheckReport
    violations: tuple[Violation, ...]
    untrusted: tuple[str, ...] = ()
    commit: str = ""

    @property
    def open(self) -> tuple[Violation, ...]:
        """The violations that make the check fail."""
        return tuple(one for one in self.violations if one.status == "open")

    @property
    def clean(self) -> bool:
        """Nothing is open, and every check that applies could do its work."""
        return not self.open and not self.report.crashed

    def count(self, status: str) -> int:
        """How many violations stand so."""
        return sum(one.status == status for one in self.violations)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What was found and does not count."""
        return tuple(finding for finding in self.report.findings if finding.level == "note")

    def sarif(self) -> dict[str, object]:
        """All findings as SARIF 2.1.0; what is exempt or in the base line is suppressed, a crash is an unsuccessful run."""
        return to_sarif(
            [*(one.finding for one in self.violations), *self.notes],
            ran=self.report.ran,
            crashed={one.check: one.reason for one in self.report.crashed},
            known=frozenset(one.finding.fingerprint for one in self.violations if one.status == "baselined"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What to check.

    Attributes:
        paths: files or folders, relative to `cwd`; () = the whole repository.
        imports: SARIF files of other tools.
        trust: run the project's own checks, which are programs, in this process.
    """

    cwd: Path
    paths: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    trust: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)


def examine(wish: Wish, *, settings: Settings) -> CheckRun:
    """Run every check that applies over the files as they are now.

    Raises:
        UsageError: a path that is not there.
        ContractInvalid: a contract for code that cannot be read.
    Side effects: writes the views in `.agentforge/violations/`.
    """
    git = Git.open(wish.cwd)
    known = working_files(git)
    paths = _chosen(known, wish, top=git.top)
    report, untrusted = _report(git, paths, wish, settings=settings)
    brought = _imported(git, wish, paths)
    file = git.top / BASELINE
    baseline = read_baseline(file.read_text("utf-8"), source=BASELINE) if file.is_file() else ()
    findings = [*_asked(report.findings, paths, whole=not wish.paths), *brought]
    found = violations(
        findings,
        baseline=baseline,
        present=known,
        lines=lines_at(git.top, findings),
        imported=frozenset(one.check for one in brought) - set(report.ran),
    )
    examined = CheckRun(report=report, violations=found, untrusted=untrusted, commit=git.found_at)
    _write_views(git.top, examined, paths=None if not wish.paths else frozenset(paths))
    return examined


def write_baseline(wish: Wish, *, settings: Settings) -> CheckRun:
    """Remember every violation that the repository has now, so that only new ones count.

    Raises:
        VerificationFailed: a check could not do its work; a base line without its findings would call them new later.
    Side effects: writes `.agentforge/baseline.json`.
    """
    examined = examine(wish, settings=settings)
    if examined.report.crashed:
        crash = examined.report.crashed[0]
        raise VerificationFailed(
            f"no base line was written: {crash.check} could not do its work: {crash.reason}", hint="repair it first"
        )
    top = Git.open(wish.cwd).top
    replace_file(top / BASELINE, baseline_text(examined.violations).encode())
    return examined


def listed(cwd: Path) -> list[dict[str, object]]:
    """The violations that the last check left, worst first.

    Raises:
        UsageError: nothing was checked yet.
    """
    folder = _folder(cwd)
    if not (folder / _INDEX).is_file():
        raise UsageError("nothing was checked yet", hint="run `agentforge conformance check`")
    return known(folder.parents[1])


def known(top: Path) -> list[dict[str, object]]:
    """What the last check of a repository left; [] when there was none."""
    index = top / FOLDER / _INDEX
    rows: list[dict[str, object]] = json.loads(index.read_text("utf-8"))["violations"] if index.is_file() else []
    return rows


def is_of_rule(row: Mapping[str, object], text: str) -> bool:
    """Whether a listed violation breaks the rule that `text` means: an id, `check/id`, or a pattern of these."""
    return any(fnmatchcase(str(row[key]), text) for key in ("rule", "rule_id"))


def holding(cwd: Path, *, settings: Settings) -> list[dict[str, str]]:
    """What holds in a repository: checks, rules of contracts for code, exemptions; each with where it comes from.

    Raises:
        ContractInvalid: a contract for code that cannot be read.
    """
    top = repository(cwd)
    table = settings.table("checks")
    disabled = texts(table.get("disable"))
    trusted = table.get("project_code") is True
    loaded = [check.name for check in chosen_checks(disabled=disabled, project=top if trusted else None)]
    rows = [{"kind": "check", "name": name, "holds": "where it applies", "origin": "builtin"} for name in loaded]
    for row in rows:
        row["origin"] = "builtin" if row["name"] in check_names() else "installed or the project's own"
    rows += [{"kind": "check", "name": name, "holds": "disabled", "origin": "settings"} for name in disabled]
    if not trusted:
        rows += [
            {"kind": "check", "name": file.stem, "holds": "not trusted", "origin": f"{file.relative_to(top)}"}
            for file in project_files(top)
        ]
    contracts = contracts_in(top)
    rows += [
        {
            "kind": rule.kind,
            "name": rule.rule_id,
            "holds": f"{rule.severity}, {rule.enforcement}: {rule.description or rule.message}",
            "origin": rule.contract,
        }
        for rule in contracts.rules
    ]
    return rows + [
        {
            "kind": "exemption",
            "name": item.rule,
            "holds": f"{', '.join(item.paths)} until {item.expires or 'for ever'}: {item.reason}",
            "origin": item.contract,
        }
        for item in contracts.exemptions
    ]


def named(cwd: Path, text: str) -> dict[str, object]:
    """The one violation that `text` means: its id or a beginning of it.

    Raises:
        UsageError: none or several fit.
    """
    rows = [row for row in listed(cwd) if str(row["violation_id"]).startswith(text)]
    if len(rows) == 1:
        return rows[0]
    if rows:
        raise UsageError(f"{text!r} matches {len(rows)} violations", hint="give more characters of the id")
    raise UsageError(f"no violation {text!r}", hint="`agentforge violations list --all` shows them")


def close(cwd: Path, violation_id: str) -> None:
    """Take a violation that is gone out of the listing."""
    folder = _folder(cwd)
    rows = [row for row in listed(cwd) if row["violation_id"] != violation_id]
    replace_file(folder / _INDEX, _index(rows))
    (folder / f"{violation_id}.yaml").unlink(missing_ok=True)


# -- below: what is looked at, and what is left of it


def _chosen(known: Sequence[str], wish: Wish, *, top: Path) -> list[str]:
    """The files to look at: of the given paths, else all that git knows or would add."""
    chosen: dict[str, None] = {}
    for text in wish.paths:
        path = (wish.cwd / text).resolve()
        if not path.exists() or not path.is_relative_to(top):
            raise UsageError(f"{text}: there is no such file or folder in {top}", hint="give paths of the repository")
        name = path.relative_to(top).as_posix()
        inside = [one for one in known if name in (".", one) or one.startswith(f"{name}/")]
        if not inside:
            raise UsageError(f"{text}: git ignores it, or it holds no file", hint="give paths that git knows")
        chosen.update(dict.fromkeys(inside))
    return list(chosen) if wish.paths else list(known)


def _report(git: Git, paths: Sequence[str], wish: Wish, *, settings: Settings) -> tuple[CheckReport, tuple[str, ...]]:
    table = settings.table("checks")
    trusted = wish.trust or table.get("project_code") is True
    timeout_s = table.get("timeout")
    report = run_checks(
        git.top,
        mount_at=git.top,
        sandbox=choose(
            cast("Preference", settings.text("sandbox.kind", "auto")), hidden=settings.folders("sandbox.hidden")
        ),
        paths=paths,
        checks=chosen_checks(disabled=texts(table.get("disable")), project=git.top if trusted else None),
        interpreter=detect(git.top, settings=settings.table("test"), environ=wish.environ).tools_python or None,
        contracts=with_commands(contracts_in(git.top), texts(table.get("commands"))),
        today=date.fromisoformat(utc_now()[:10]),
        timeout_s=float(timeout_s) if isinstance(timeout_s, (int, float)) else _TIMEOUT_S,
    )
    untrusted = () if trusted else tuple(file.name for file in project_files(git.top))
    return report, untrusted


def _asked(findings: Sequence[Finding], paths: Sequence[str], *, whole: bool) -> list[Finding]:
    """Findings about the files that were asked for; some checks look at the whole project whatever is asked."""
    wanted = set(paths)
    return [finding for finding in findings if whole or finding.path in wanted]


def _imported(git: Git, wish: Wish, paths: Sequence[str]) -> list[Finding]:
    """Findings of other tools: those of the given files, and those given before whose line still stands."""
    file = git.top / FOLDER / _IMPORTED
    kept = [finding_from(row) for row in json.loads(file.read_text("utf-8"))] if file.is_file() else []
    fresh = fresh_imports([wish.cwd / one for one in wish.imports], top=git.top)
    tools = {finding.check for finding in fresh}
    kept = still_there([one for one in kept if one.check not in tools], top=git.top) + fresh
    if file.is_file() or kept:
        replace_file(file, json.dumps([one.value() for one in kept], indent=1).encode())
    wanted = set(paths)
    return [finding for finding in kept if finding.path in wanted]


def lines_at(top: Path, findings: Sequence[Finding]) -> dict[tuple[str, int], str]:
    """The source line of each finding that names one, by path and number."""
    read = line_reader(top)
    return {(one.path, one.line): read(one.path, one.line) for one in findings if one.line}


def _write_views(top: Path, examined: CheckRun, *, paths: frozenset[str] | None) -> None:
    """Write one file per violation and the index of them; what stood there about the files looked at is replaced."""
    ensure_agentforge_folder(top)
    folder = top / FOLDER
    rows = [one.value() for one in examined.violations]
    if paths is not None and (folder / _INDEX).is_file():
        others = json.loads((folder / _INDEX).read_text("utf-8"))["violations"]
        rows += [row for row in others if row["file"] not in paths]
    rows.sort(key=lambda row: (str(row["status"]) != "open", str(row["file"]), _number(row["line"]), str(row["rule"])))
    known = {f"{row['violation_id']}.yaml" for row in rows}
    for file in folder.glob("V-*.yaml"):
        if file.name not in known:
            file.unlink()
    for one in examined.violations:
        replace_file(folder / f"{one.violation_id}.yaml", dump(one.value()).encode())
    replace_file(folder / _INDEX, _index(rows))


def _index(rows: Sequence[Mapping[str, object]]) -> bytes:
    return json.dumps({"violations": list(rows)}, indent=1, ensure_ascii=False).encode() + b"\n"


def _folder(cwd: Path) -> Path:
    return repository(cwd) / FOLDER


def texts(value: object) -> tuple[str, ...]:
    """The items of a list of the settings as strings."""
    return tuple(str(item) for item in value) if isinstance(value, (list, tuple)) else ()


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
