"""`agentforge fetch`: bring runs that another machine pushed to the repository's remote."""

from __future__ import annotations

import click

from agentforge.app.sync import fetch as fetching
from agentforge.app.sync.fetch import Fetched
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option

_WORDS = {
    "new": "is here now",
    "advanced": "went on elsewhere and is here as it stands there",
    "replaced": "went on elsewhere and here; it is here as it stands there",
    "ahead": "is here already, with all that the remote has",
    "refused": "was not taken",
}


@click.command(
    epilog="""\b
Examples:
  agentforge fetch
  agentforge fetch task-20261121-slugify && agentforge resume task-20261121-slugify
  agentforge fetch --remote backup --json
"""
)
@click.argument("task_id", metavar="[ID]", required=False)
@click.option("--remote", metavar="NAME", help="The git remote; the default is fleet.remote, else origin.")
@cwd_option
@json_option
def fetch(task_id: str | None, remote: str | None, cwd: str | None, as_json: bool) -> int:
    """Bring task ID, or all tasks, from the remote that runs are pushed to (setting fleet.remote).

    AgentForge checks everything that it fetches, record by record. If this machine has a copy with records of its own,
    AgentForge moves that copy aside.
    """
    place = open_place(cwd)
    name = remote or place.settings.text("fleet.remote") or "origin"
    found = [fetching.fetch(place.cwd, task_id, remote=name)] if task_id else fetching.fetch_all(place.cwd, remote=name)
    if as_json:
        write_json({"remote": name, "runs": [_row(item) for item in found]})
    else:
        _show(found, remote=name)
    return 9 if any(item.outcome == "refused" for item in found) else 0


def _row(item: Fetched) -> dict[str, object]:
    return {
        "task_id": item.task_id,
        "outcome": item.outcome,
        "records": item.records,
        "standing": item.standing or None,
        "aside": item.aside or None,
        "error": item.error or None,
    }


def _show(found: list[Fetched], *, remote: str) -> None:
    for item in found:
        click.echo(f"{item.task_id} {_WORDS[item.outcome]} ({item.standing or 'not over'}, {item.records} records)")
        if item.aside:
            click.echo(f"    this machine's copy lies in {item.aside}")
        if item.error:
            click.echo(f"    {item.error}")
    if not found:
        click.echo(f"{remote} holds no runs")
