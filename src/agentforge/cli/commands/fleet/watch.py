"""`agentforge watch`: a folder whose files become tasks."""

from __future__ import annotations

import time
from pathlib import Path

import click

from agentforge.app.composition.task_queries import repository
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.options import cwd_option
from agentforge.fleet import WatchedFolder


@click.command(
    epilog="""\b
Examples:
  agentforge watch ~/requests
  agentforge watch inbox --cwd ~/src/backend --once
"""
)
@click.argument("folder", type=click.Path())
@click.option("--once", is_flag=True, help="Look, start what is there, and end.")
@click.option(
    "--period", type=click.FloatRange(min=0.01), default=2.0, show_default=True, help="Seconds between looks."
)
@cwd_option
def watch(folder: str, once: bool, period: float, cwd: str | None) -> int:
    """Put a task into the queue for every .md, .txt or .json file that appears in FOLDER; the same content counts once."""
    place = open_place(cwd)
    path = Path(folder).expanduser().absolute()
    watched = WatchedFolder(path, repository(place.cwd), environ=place.environ, tell=lambda line: click.echo(line))
    watched.look()  # the first look only remembers: what is the same at the second is complete
    if once:
        watched.look()
        return 0
    try:
        while True:
            time.sleep(period)
            watched.look()
    except KeyboardInterrupt:
        return 0
