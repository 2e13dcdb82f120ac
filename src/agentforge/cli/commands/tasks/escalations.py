"""`agentforge escalations`: the questions that wait for a human."""

from __future__ import annotations

import sys

import click

from agentforge.app.composition import task_queries as looking
from agentforge.app.composition.run_result import escalation_row
from agentforge.app.tasks import answers
from agentforge.app.tasks.answers import Waiting
from agentforge.cli.output.overview import tell_damaged
from agentforge.cli.output.summary import escalation_lines
from agentforge.cli.output.terminal import cut, printable, shown_table, style_for
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.flag import UsualGroup
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.errors import UsageError


@click.group(
    cls=UsualGroup,
    epilog="""\b
Examples:
  agentforge escalations list
  agentforge escalations show E1
""",
)
def escalations() -> None:
    """List and show the questions that wait for a human; answer them with `agentforge resolve`."""


@escalations.command(
    "list",
    epilog="""\b
Examples:
  agentforge escalations list
  agentforge escalations list --json
""",
)
@cwd_option
@json_option
def list_escalations(cwd: str | None, as_json: bool) -> int:
    """List the open questions, the oldest first."""
    place = open_place(cwd)
    rows = answers.pending(place.cwd)
    if as_json:
        write_json([_value(row) for row in rows])
    elif not rows:
        click.echo("nothing waits for you")
    else:
        _show_waiting(rows, place)
    return tell_damaged((row.task_id, row.outcome, row.error, row.cause) for row in looking.listing(place.cwd))


def _show_waiting(rows: list[Waiting], place: Place) -> None:
    cells = [
        (row.address, row.item.kind, row.item.stage or "-", cut(" ".join(row.item.question.split()), 70))
        for row in rows
    ]
    click.echo(shown_table(cells, head=("ESCALATION", "KIND", "STAGE", "QUESTION")))


@escalations.command(
    epilog="""\b
Examples:
  agentforge escalations show E1
  agentforge escalations show task-20261121-slugify.E1 --json
"""
)
@click.argument("escalation_id", metavar="ESCALATION_ID")
@cwd_option
@json_option
def show(escalation_id: str, cwd: str | None, as_json: bool) -> int:
    """Show one escalation with the commands that answer it."""
    place = open_place(cwd)
    row = _find(answers.escalations(place.cwd), escalation_id)
    if as_json:
        write_json(_value(row))
        return 0
    style = style_for(sys.stdout, place.environ)
    click.echo("\n".join(escalation_lines(row.item, task_id=row.task_id, style=style)))
    for name, value in row.item.context.items():
        click.echo(f"  {name}: {printable(str(value))}")
    return 0


def _find(rows: list[Waiting], escalation_id: str) -> Waiting:
    found = [row for row in rows if escalation_id in (row.address, row.item.escalation_id)]
    waiting = [row for row in found if row.item.resolution is None]
    if len(found) == 1 or len(waiting) == 1:
        return (waiting or found)[0]
    if not found:
        raise UsageError(f"there is no escalation {escalation_id!r}", hint="see: agentforge escalations list")
    raise UsageError(f"{escalation_id} matches several tasks", hint="one of " + ", ".join(row.address for row in found))


def _value(row: Waiting) -> dict[str, object]:
    return {"task_id": row.task_id, "address": row.address, **escalation_row(row.item, task_id=row.task_id)}
