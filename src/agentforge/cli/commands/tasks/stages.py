"""`agentforge stages`: the pipeline as a table."""

from __future__ import annotations

from collections.abc import Mapping

import click

from agentforge.app.tasks.added_stages import Added, added_now
from agentforge.cli.output.terminal import shown_table
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.config.paths import project_tops
from agentforge.errors import TrustRequired
from agentforge.pipeline.stages import ALIASES, load_stages


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
    "--workflow",
    type=click.Choice(["start", "fix", "split"]),
    default="start",
    show_default=True,
    help="Show the stages of this workflow.",
)
@cwd_option
@json_option
def stages(workflow: str, cwd: str | None, as_json: bool) -> int:
    """List the stages, what each produces, and which actions of a request need it.

    The list includes the stages that the project, you or a package add to `start`, each with its origin.
    """
    added = _added(cwd) if workflow == "start" else {}
    found = load_stages("" if workflow == "start" else workflow, added={name: one.stage for name, one in added.items()})
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
            "after": stage.after,
            "from": added[stage.name].source if stage.after else "agentforge",
        }
        for stage in found.values()
    ]
    if as_json:
        write_json(rows)
        return 0
    cells = [tuple(_cells(row, wide=bool(added))) for row in rows]
    head = ("STAGE", "PRODUCES", "ACTIONS", *(("FROM",) if added else ()), "PURPOSE")
    click.echo(shown_table(cells, head=head))
    return 0


def _cells(row: Mapping[str, object], *, wide: bool) -> list[str]:
    actions = row["actions"]
    listed = ", ".join(actions) if isinstance(actions, list) else ""
    source = [str(row["from"])] if wide else []
    return [str(row["name"]), str(row["produces"]), listed, *source, str(row["purpose"])]


def _added(cwd: str | None) -> dict[str, Added]:
    """The stages from outside; where nobody agreed to them yet, that is said and the others are listed."""
    place = open_place(cwd)
    top = project_tops(place.cwd, place.environ)[0]
    try:
        return {one.stage.name: one for one in added_now(top, settings=place.settings, environ=place.environ)}
    except TrustRequired as exc:
        click.echo(f"note: {exc.message}; {exc.hint}", err=True)
        return {}
