"""`agentforge stages`: the pipeline as a table."""

from __future__ import annotations

import os
import sys

import click

from agentforge.cli.form import write_json
from agentforge.cli.options import json_option
from agentforge.cli.terminal import style_for, table


@click.command(
    epilog="""\b
Examples:
  agentforge stages
  agentforge stages --json
  agentforge stages --workflow fix
  agentforge stages --workflow split
"""
)
@click.option(
    "--workflow", type=click.Choice(["start", "fix", "split"]), default="start", show_default=True, help="Whose stages."
)
@json_option
def stages(workflow: str, as_json: bool) -> int:
    """List the stages, what each produces, and which actions of a request need it."""
    from agentforge.pipeline.stages import ALIASES, load_stages

    rows = [
        {
            "name": stage.name,
            "produces": stage.produces,
            "purpose": stage.purpose,
            "consumes": list(stage.consumes),
            "actions": list(stage.actions),
            "tools": list(stage.tools),
            "writes": stage.writes,
            "aliases": [alias for alias, name in ALIASES.items() if name == stage.name and workflow == "start"],
        }
        for stage in load_stages("" if workflow == "start" else workflow).values()
    ]
    if as_json:
        write_json(rows)
        return 0
    cells = [(str(row["name"]), str(row["produces"]), ", ".join(row["actions"]), str(row["purpose"])) for row in rows]
    style = style_for(sys.stdout, os.environ)
    click.echo("\n".join(table(cells, head=("STAGE", "PRODUCES", "ACTIONS", "PURPOSE"), style=style)))
    return 0
