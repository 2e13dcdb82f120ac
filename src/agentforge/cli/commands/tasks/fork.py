"""`agentforge fork`: a new task from a step of another one."""

from __future__ import annotations

from dataclasses import asdict

import click

from agentforge.app.history.fork import fork as make_fork
from agentforge.cli.commands.tasks.resume import drive_on
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option


@click.command(
    epilog="""\b
Examples:
  agentforge fork task-20261121-slugify
  agentforge fork task-20261121-slugify --from-step 23
  agentforge fork task-20261121-slugify --from-step 3 --model openai/gpt-5.5 --resume
"""
)
@click.argument("task_id", metavar="ID")
@click.option(
    "--from-step", type=click.IntRange(min=1), help="The last step that both share; default: the last one that ended."
)
@click.option("--model", metavar="PROVIDER/NAME", default="", help="Continue with this model.")
@click.option("--resume", "go_on", is_flag=True, help="Drive the new task on at once.")
@cwd_option
@json_option
def fork(task_id: str, from_step: int | None, model: str, go_on: bool, cwd: str | None, as_json: bool) -> int:
    """Make a new task that begins as ID did up to a step, with the files of that step; ID stays as it is.

    The new task has its own branch and worktree. Its log begins with the records of ID, byte for byte.
    """
    place = open_place(cwd)
    made = make_fork(place.cwd, task_id, from_step=from_step, model=model, environ=place.environ)
    if go_on:
        return drive_on(made.task_id, limits={}, place=place, form="json" if as_json else "text")
    if as_json:
        write_json(asdict(made))
        return 0
    click.echo(f"{made.task_id}: forked from {made.parent} after step {made.step} ({made.records} records shared)")
    click.echo(f"  agentforge resume {made.task_id}")
    return 0
