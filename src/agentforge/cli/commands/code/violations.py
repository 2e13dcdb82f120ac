"""`agentforge violations`: what the last check found, read from its views."""

from __future__ import annotations

import click

from agentforge.app.conformance.check_run import is_of_rule, listed, named
from agentforge.cli.output.terminal import cut, printable, shown_table
from agentforge.cli.startup.command_context import folder_of
from agentforge.cli.startup.flag import UsualGroup
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.views.yaml_text import dump

_WIDTH = 70


@click.group(
    cls=UsualGroup,
    epilog="""\b
Examples:
  agentforge violations list
  agentforge violations show V-1a2b3c4d5e
""",
)
def violations() -> None:
    """List and show what the last `agentforge conformance check` found."""


@violations.command(
    "list",
    epilog="""\b
Examples:
  agentforge violations list
  agentforge violations list --rule ruff/F401
  agentforge violations list --all --json
""",
)
@click.option("--all", "with_all", is_flag=True, help="Also show those that are exempt or part of the baseline.")
@click.option("--rule", metavar="RULE", help="Only this rule: an id, check/id, or a pattern.")
@cwd_option
@json_option
def list_violations(with_all: bool, rule: str | None, cwd: str | None, as_json: bool) -> int:
    """List the violations that are open."""
    rows = [row for row in listed(folder_of(cwd)) if with_all or row["status"] == "open"]
    rows = [row for row in rows if rule is None or is_of_rule(row, rule)]
    if as_json:
        write_json(rows)
        return 0
    if not rows:
        click.echo("no violation")
        return 0
    cells = [
        (
            str(row["violation_id"]),
            str(row["status"]),
            str(row["severity"]),
            printable(str(row["rule"])),
            printable(f"{row['file']}:{row['line']}" if row["line"] else str(row["file"])),
            cut(printable(" ".join(str(row["message"]).split())), _WIDTH),
        )
        for row in rows
    ]
    head = ("ID", "STATUS", "SEVERITY", "RULE", "PLACE", "MESSAGE")
    click.echo(shown_table(cells, head=head))
    return 0


@violations.command(
    epilog="""\b
Examples:
  agentforge violations show V-1a2b3c4d5e
  agentforge violations show V-1a2b --json
"""
)
@click.argument("violation_id", metavar="ID")
@cwd_option
@json_option
def show(violation_id: str, cwd: str | None, as_json: bool) -> int:
    """Show violation ID; the start of an id is enough."""
    row = named(folder_of(cwd), violation_id)
    if as_json:
        write_json(row)
    else:
        click.echo("\n".join(printable(line) for line in dump(row).rstrip().splitlines()))
    return 0
