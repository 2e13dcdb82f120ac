"""`agentforge inspect`: what a task saw and did, step by step."""

from __future__ import annotations

import click

from agentforge.cli.form import write_json
from agentforge.cli.options import cwd_option, json_option
from agentforge.cli.place import open_place

_VIEWS = ("context", "action", "diff", "events", "artifact")


@click.command(
    epilog="""\b
Examples:
  agentforge inspect task-20261121-slugify
  agentforge inspect task-20261121-slugify --step 4 --show context
  agentforge inspect task-20261121-slugify --step 9 --show diff
  agentforge inspect task-20261121-slugify --show events --json
"""
)
@click.argument("task_id", metavar="ID")
@click.option("--step", type=click.IntRange(min=1), help="One step of the run; without it, the whole run.")
@click.option("--show", type=click.Choice(_VIEWS), default="action", show_default=True, help="What to look at.")
@cwd_option
@json_option
def inspect(task_id: str, step: int | None, show: str, cwd: str | None, as_json: bool) -> int:
    """Look into task ID: the exact context that was sent, the calls and their results, the changes, the events."""
    from agentforge.app import looking
    from agentforge.app.inspecting import inspect_text, inspect_value

    place = open_place(cwd)
    folder = looking.load(place.cwd, task_id).folder
    if as_json:
        write_json(inspect_value(folder, step=step, show=show))  # type: ignore[arg-type] # one of the choices
    else:
        click.echo(inspect_text(folder, step=step, show=show).rstrip("\n"))  # type: ignore[arg-type] # one of the choices
    return 0
