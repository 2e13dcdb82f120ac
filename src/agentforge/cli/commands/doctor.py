"""`agentforge doctor`: is everything here that AgentForge needs?"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from agentforge.app.setup.diagnostics import examine
from agentforge.app.setup.setup_run import safe_fixes
from agentforge.cli.output.terminal import style_for, table, wrapped
from agentforge.cli.startup.command_context import folder_of
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.errors import InfrastructureError

if TYPE_CHECKING:
    from agentforge.workspace.sandbox.escapes import Attempt


@click.command(
    epilog="""\b
Examples:
  agentforge doctor
  agentforge doctor --fix --call
  agentforge doctor --cwd ~/project --json
"""
)
@click.option("--fix", is_flag=True, help="Put right what needs no question: folders, permissions, .gitignore.")
@click.option("--call", is_flag=True, help="Ask the model for one word, too; costs a few tokens.")
@cwd_option
@json_option
def doctor(fix: bool, call: bool, cwd: str | None, as_json: bool) -> int:
    """Check what AgentForge needs on this machine and in this folder, and try to get out of the sandbox.

    Exit code 0 when nothing that is required is missing (warnings are not errors), else 7.
    """
    from dataclasses import asdict

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
        style = style_for(sys.stdout, os.environ)
        for line in fixed:
            click.echo(f"fixed: {line}")
        cells = [(check.name, check.status, check.message) for check in checks]
        click.echo("\n".join(table(cells, head=("CHECK", "STATUS", "FOUND"), style=style)))
        if found.escapes:
            tried = [(attempt.what, _verdict(attempt), attempt.detail) for attempt in found.escapes]
            click.echo("\n" + "\n".join(table(tried, head=("WAY OUT OF THE SANDBOX", "HELD", "DETAIL"), style=style)))
        for check in checks:
            if check.status != "ok" and check.detail:
                text = f"{check.name}: {check.detail}"
                click.echo("\n" + ("\n".join(wrapped(text, style.columns)) if style.columns else text))
    return InfrastructureError.exit_code if errors else 0


def _verdict(attempt: Attempt) -> str:
    return "not tried" if attempt.held is None else "yes" if attempt.held else "NO"
