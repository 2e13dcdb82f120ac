"""`agentforge mark`: say what became of a delivery."""

from __future__ import annotations

from typing import Literal

import click

from agentforge.app.tasks.stop import mark as record_mark
from agentforge.cli.runs.follow import user_name
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option


@click.command(
    epilog="""\b
Examples:
  agentforge mark task-20261121-slugify defect --note "fails on empty input"
  agentforge mark task-20261121-slugify rework
"""
)
@click.argument("task_id", metavar="ID")
@click.argument("word", metavar="rework|defect", type=click.Choice(["rework", "defect"]))
@click.option("--note", default="", help="What was wrong; recorded with the mark.")
@cwd_option
@json_option
def mark(task_id: str, word: Literal["rework", "defect"], note: str, cwd: str | None, as_json: bool) -> int:
    """Record that the delivery of task ID needed rework or had a defect; `agentforge metrics` counts it."""
    place = open_place(cwd)
    result = record_mark(place.cwd, task_id, word, environ=place.environ, note=note, by=user_name(place))
    if as_json:
        write_json({"task_id": result.state.identity.run_id, "marks": list(result.state.people.marks)})
    else:
        click.echo(f"{result.state.identity.run_id}: marked as {word}")
    return 0
