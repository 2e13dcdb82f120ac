"""`agentforge doctor`: is everything here that AgentForge needs?"""

from __future__ import annotations

import os
import sys

import click

from agentforge.app.setup.diagnostics import examine
from agentforge.app.setup.setup_run import safe_fixes
from agentforge.cli.output.doctor_report import report_lines
from agentforge.cli.output.terminal import style_for
from agentforge.cli.startup.command_context import folder_of
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.errors import InfrastructureError


@click.command(
    epilog="""\b
Examples:
  agentforge doctor
  agentforge doctor --all
  agentforge doctor --fix --call
  agentforge doctor --cwd ~/project --json
"""
)
@click.option("--fix", is_flag=True, help="Put right what needs no question: folders, permissions, .gitignore.")
@click.option("--all", "everything", is_flag=True, help="Show every look by itself, and each way out of the sandbox.")
@click.option("--call", is_flag=True, help="Ask the model for one word, too; costs a few tokens.")
@cwd_option
@json_option
def doctor(fix: bool, everything: bool, call: bool, cwd: str | None, as_json: bool) -> int:
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
        for line in fixed:
            click.echo(f"fixed: {line}")
        click.echo("\n".join(report_lines(found, everything=everything, style=style_for(sys.stdout, os.environ))))
    return InfrastructureError.exit_code if errors else 0
