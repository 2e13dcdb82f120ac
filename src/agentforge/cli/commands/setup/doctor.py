"""`agentforge doctor`: is everything here that AgentForge needs?

What the doctor found, in about ten lines: what is needed most first, what is well together, and below a warning what to do.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import click

from agentforge.app.setup.diagnostics import Examination, examine
from agentforge.app.setup.session_diagnostics import Check
from agentforge.app.setup.setup_run import safe_fixes
from agentforge.cli.output.phrases import counted
from agentforge.cli.output.terminal import Style, style_for, table
from agentforge.cli.startup.command_context import folder_of
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.errors import InfrastructureError
from agentforge.workspace.sandbox.escapes import Attempt


@click.command(
    epilog="""\b
Examples:
  agentforge doctor
  agentforge doctor --all
  agentforge doctor --fix --call
  agentforge doctor --cwd ~/project --json
"""
)
@click.option("--fix", is_flag=True, help="Repair what needs no question: folders, permissions, .gitignore.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Show every check in a row of its own, and each way out of the sandbox that was tried.",
)
@click.option("--call", is_flag=True, help="Also ask the model for one word, which costs a few tokens.")
@cwd_option
@json_option
def doctor(fix: bool, everything: bool, call: bool, cwd: str | None, as_json: bool) -> int:
    """Check what AgentForge needs on this machine and in this folder, and try to get out of the sandbox.

    Exit code 0 when nothing that is required is missing (warnings are not errors), else 7.
    """
    folder = folder_of(cwd)
    fixed: tuple[str, ...] = ()
    if fix:
        fixed = safe_fixes(folder, os.environ)
    found = examine(folder, os.environ, call=call)
    checks = found.checks
    errors = sum(check.status == "error" for check in checks)
    warnings = sum(check.status == "warning" for check in checks)
    if as_json:
        rows = [asdict(check) for check in checks]
        escapes = [asdict(attempt) for attempt in found.escapes]
        write_json(
            {
                "ok": not errors,
                "errors": errors,
                "warnings": warnings,
                "checks": rows,
                "escapes": escapes,
                "fixed": list(fixed),
            }
        )
    else:
        for line in fixed:
            click.echo(f"fixed: {line}")
        click.echo("\n".join(report_lines(found, everything=everything, style=style_for(sys.stdout, os.environ))))
    return InfrastructureError.exit_code if errors else 0


_FIRST = ("model", "model answers", "tests", "repository", "settings")
"""What people look for; the others follow in groups."""
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "sandbox": ("bubblewrap", "escapes"),
    "programs": ("python", "git", "ripgrep", "ruff", "ty"),
    "data folder": ("data folder",),
    "pipeline": ("stages", "attacks", "injections"),
    "conversations": ("screen", "terminal", "hooks", "mcp servers", "skills", "trust"),
}
_VERSION = re.compile(r"\d+(?:\.\d+)+")


def report_lines(found: Examination, *, everything: bool, style: Style) -> list[str]:
    """Lay out what was found.

    Args:
        everything: a row for each look and for each way out of the sandbox.
    """
    checks = found.checks
    cells = [_cell(check) for check in checks] if everything else _summed(checks)
    lines = table(cells, head=("CHECK", "STATUS", "FOUND"), style=style)
    if everything and found.escapes:
        tried = [(attempt.what, _verdict(attempt), attempt.detail) for attempt in found.escapes]
        lines += ["", *table(tried, head=("WAY OUT OF THE SANDBOX", "HELD", "DETAIL"), style=style)]
    wrong = [check for check in checks if check.status != "ok"]
    lines += ["", _total(wrong)]
    return lines if everything else [*lines, "`agentforge doctor --all` shows every check in a row of its own."]


def _summed(checks: Sequence[Check]) -> list[tuple[str, str, str]]:
    """What is wrong by itself, and what is well in its group."""
    known = {check.name: check for check in checks}
    rows = [_cell(known[name]) for name in _FIRST if name in known]
    for group, names in _GROUPS.items():
        here = [known[name] for name in names if name in known]
        well = [check for check in here if check.status == "ok"]
        rows += [_cell(check) for check in here if check.status != "ok"]
        if well:
            rows.append((group, "ok", "; ".join(_brief(check, group) for check in well)))
    told = {*_FIRST, *(name for names in _GROUPS.values() for name in names)}
    return rows + [_cell(check) for check in checks if check.name not in told]


def _cell(check: Check) -> tuple[str, str, str]:
    remedy = f" - {check.detail}" if check.status != "ok" and check.detail else ""
    return check.name, check.status, check.message + remedy


def _brief(check: Check, group: str) -> str:
    """A look of a group in a few words."""
    if group == "programs":
        version = _VERSION.search(check.message)
        return f"{check.name} {version[0] if version else check.message}"
    if group in ("sandbox", "data folder"):
        return check.message
    return f"{check.name}: {check.message}"


def _total(wrong: Sequence[Check]) -> str:
    errors = sum(check.status == "error" for check in wrong)
    warnings = len(wrong) - errors
    if not wrong:
        return "Everything is ready."
    return f"There are {counted(errors, 'error')} and {counted(warnings, 'warning')}; each row says what you can do."


def _verdict(attempt: Attempt) -> str:
    return "not tried" if attempt.held is None else "yes" if attempt.held else "NO"
