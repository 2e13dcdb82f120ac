"""`agentforge worker`: drives what stands in the queue."""

from __future__ import annotations

from contextlib import closing

import click

from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.options import cwd_option
from agentforge.fleet import Worker, database_url, open_database, plan_of


@click.command(
    epilog="""\b
Examples:
  agentforge worker
  agentforge worker --concurrency 4
  agentforge worker --until-empty
"""
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 256),
    metavar="N",
    help="How many tasks at once; the default is fleet.concurrency, else 1.",
)
@click.option("--until-empty", is_flag=True, help="End when nothing is left that could be driven.")
@cwd_option
def worker(concurrency: int | None, until_empty: bool, cwd: str | None) -> int:
    """Take tasks from the queue and drive them until told to stop.

    Ctrl-C or SIGTERM: every task finishes its step and goes back into the queue; the second time they end at once. If a
    worker dies, another one takes over its tasks.
    """
    place = open_place(cwd)
    plan = plan_of(place.settings, concurrency=concurrency, until_empty=until_empty)
    with closing(open_database(database_url(place.settings, place.environ))) as database:
        return Worker(database=database, environ=place.environ, plan=plan, tell=lambda line: click.echo(line)).work()
