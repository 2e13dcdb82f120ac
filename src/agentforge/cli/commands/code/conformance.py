"""`agentforge conformance`: check the repository, and remember what it has so that only new violations count."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import click

from agentforge.app.conformance.check_run import CheckRun, Wish, examine, holding, write_baseline
from agentforge.cli.output.terminal import Style, printable, shown_table, style_for
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.conformance import BASELINE
from agentforge.errors import VerificationFailed
from agentforge.store.log.files import replace_file

_SHOWN = 200
_TRUST = "Run the project's own checks (.agentforge/checks/*.py), too: programs, outside the sandbox."


@click.group(
    epilog="""\b
Examples:
  agentforge conformance check
  agentforge conformance check src/app.py --sarif findings.sarif
  agentforge conformance baseline
  agentforge conformance list
"""
)
def conformance() -> None:
    """Check the repository against linters, type checkers and its own contracts for code."""


@conformance.command(
    epilog="""\b
Examples:
  agentforge conformance check
  agentforge conformance check src tests/test_cart.py
  agentforge conformance check --sarif findings.sarif
  agentforge conformance check --import other-tool.sarif --json
"""
)
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option("--sarif", metavar="FILE", help='Write all findings as SARIF 2.1.0; "-" prints them.')
@click.option("--import", "imports", multiple=True, metavar="FILE", help="Add another tool's SARIF. Repeatable.")
@click.option("--notes", is_flag=True, help="Also show findings that do not count.")
@click.option("--trust-project-checks", "trust", is_flag=True, help=_TRUST)
@cwd_option
@json_option
def check(paths: tuple[str, ...], sarif: str | None, as_json: bool, **given: Any) -> int:
    """Look for violations in PATHS, or in every file that git knows or would add.

    --json prints SARIF. A check that crashes, or that is configured and not installed, has failed.
    Exit codes: 0 clean, 4 violations or a check that could not do its work.
    """
    began = time.monotonic()
    place = open_place(given["cwd"])
    wish = Wish(cwd=place.cwd, paths=paths, imports=given["imports"], trust=given["trust"], environ=place.environ)
    examined = examine(wish, settings=place.settings)
    if as_json or sarif == "-":
        write_json(examined.sarif())
    if sarif not in (None, "-"):
        _write_sarif(place.cwd / str(sarif), examined)
    if not as_json and sarif != "-":
        lines = _report(examined, with_notes=given["notes"], duration_s=time.monotonic() - began)
        click.echo("\n".join(lines))
    return 0 if examined.clean else VerificationFailed.exit_code


@conformance.command(
    epilog="""\b
Examples:
  agentforge conformance baseline
  git add .agentforge/baseline.json
"""
)
@click.option("--trust-project-checks", "trust", is_flag=True, help=_TRUST)
@cwd_option
@json_option
def baseline(trust: bool, cwd: str | None, as_json: bool) -> int:
    """Record today's violations in .agentforge/baseline.json; from then on, only new ones count.

    AgentForge recognises them when lines move or a file is renamed. Commit the file.
    """
    place = open_place(cwd)
    examined = write_baseline(Wish(cwd=place.cwd, trust=trust, environ=place.environ), settings=place.settings)
    kept = examined.count("open") + examined.count("baselined")
    if as_json:
        write_json({"baseline": BASELINE, "violations": kept, "new": examined.count("open")})
    else:
        click.echo(f"{BASELINE} holds {_plural(kept, 'violation')}, {examined.count('open')} of them new; commit it")
    return 0


@conformance.command(
    "list",
    epilog="""\b
Examples:
  agentforge conformance list
  agentforge conformance list --json
""",
)
@cwd_option
@json_option
def list_rules(cwd: str | None, as_json: bool) -> int:
    """List the checks, and the rules and exemptions of the contracts for code."""
    place = open_place(cwd)
    rows = holding(place.cwd, settings=place.settings)
    if as_json:
        write_json(rows)
        return 0
    cells = [tuple(printable(row[key]) for key in ("kind", "name", "holds", "origin")) for row in rows]
    head = ("KIND", "NAME", "HOLDS", "ORIGIN")
    click.echo(shown_table(cells, head=head))
    return 0


def _write_sarif(path: Path, examined: CheckRun) -> None:
    replace_file(path, json.dumps(examined.sarif(), indent=2, ensure_ascii=False).encode() + b"\n")


def _report(examined: CheckRun, *, with_notes: bool, duration_s: float) -> list[str]:
    """The findings, worst place first, then the sums and what to do."""
    style = style_for(sys.stdout, os.environ)
    lines = []
    for one in examined.open[:_SHOWN]:
        lines.append(f"{_place(one.finding)} {style.paint(one.violation_id, 'bold')} {_words(one.finding)}")
        if one.finding.hint:
            lines.append(f"    {printable(one.finding.hint)}")
    if len(examined.open) > _SHOWN:
        lines.append(f"... and {len(examined.open) - _SHOWN} more: agentforge violations list")
    if with_notes:
        lines += [f"{_place(finding)} {_words(finding)}" for finding in examined.notes]
    lines += [
        style.paint(f"could not do its work: {one.check}: {printable(one.reason)}", "red")
        for one in examined.report.crashed
    ]
    if examined.untrusted:
        names = ", ".join(examined.untrusted)
        lines.append(f"not run: the project's own checks ({names}); --trust-project-checks runs them")
    more = ["what was found and does not count: --notes"] if examined.notes and not with_notes else []
    return [*lines, *_sums(examined, style, duration_s=duration_s), *more]


def _sums(examined: CheckRun, style: Style, *, duration_s: float) -> list[str]:
    parts = [_plural(len(examined.open), "violation")]
    for status, words in (("baselined", "in the base line"), ("exempt", "exempt")):
        if examined.count(status):
            parts.append(f"{examined.count(status)} {words}")
    if examined.notes:
        parts.append(_plural(len(examined.notes), "note"))
    ran = ", ".join(examined.report.ran) or "no check"
    head = "clean" if examined.clean else "not clean"
    lines = [
        f"{style.paint(head, 'green' if examined.clean else 'red')}: {', '.join(parts)} ({ran}; {duration_s:.1f} s)"
    ]
    if examined.open:
        lines.append(f"fix one: agentforge fix {examined.open[0].violation_id}    fix all: agentforge fix --all")
    return lines


def _place(finding: Any) -> str:
    place = f"{finding.path}:{finding.line}:{finding.column}" if finding.line else finding.path
    return printable(place)


def _words(finding: Any) -> str:
    return f"{finding.level} {printable(finding.rule)} {printable(' '.join(finding.message.split()))}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
