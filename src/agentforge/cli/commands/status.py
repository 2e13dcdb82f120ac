"""`agentforge status`: all tasks of a repository, or one in detail."""

from __future__ import annotations

import sys

import click

from agentforge.cli.form import Form, write_json
from agentforge.cli.options import cwd_option, form_of, form_options
from agentforge.cli.place import Place, open_place
from agentforge.cli.terminal import cut_words, style_for, table


@click.command(
    epilog="""\b
Examples:
  agentforge status
  agentforge status task-20261121-slugify
  agentforge status --json
"""
)
@click.argument("task_id", metavar="[ID]", required=False)
@cwd_option
@form_options
def status(task_id: str | None, cwd: str | None, output_format: Form, as_json: bool) -> int:
    """Show the tasks of this repository, or task ID; the start of an id is enough."""
    from agentforge.app import looking
    from agentforge.cli.following import show_result

    place = open_place(cwd)
    form = form_of(output_format, as_json=as_json)
    if task_id is None:
        return _list(place, form=form)
    show_result(looking.load(place.cwd, task_id), place=place, form=form)
    return 0


def _list(place: Place, *, form: Form) -> int:
    from dataclasses import asdict

    from agentforge.app import looking

    rows = looking.listing(place.cwd)
    if form != "text":
        write_json([asdict(row) for row in rows])
        return 0
    if not rows:
        click.echo('no tasks yet; begin with: agentforge start "..."')
        return 0
    style = style_for(sys.stdout, place.environ)
    cells = [(row.task_id, row.outcome, row.stage or "-", cut_words(" ".join(row.request.split()), 60)) for row in rows]
    click.echo("\n".join(table(cells, head=("TASK", "STATE", "STAGE", "REQUEST"), style=style)))
    return 0
