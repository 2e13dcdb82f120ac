"""`agentforge inspect`: what a task saw and did, step by step."""

from __future__ import annotations

import sys

import click

from agentforge.app.composition.task_queries import task_folder
from agentforge.app.history.inspection import inspect_text, inspect_value, sent_bytes
from agentforge.cli.output.terminal import printable
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.errors import UsageError

_VIEWS = ("steps", "context", "action", "diff", "events", "artifact", "stages")


@click.command(
    epilog="""\b
Examples:
  agentforge inspect task-20261121-slugify
  agentforge inspect task-20261121-slugify --step 4
  agentforge inspect task-20261121-slugify --step 4 --show context
  agentforge inspect task-20261121-slugify --step 4 --show context --raw | sha256sum
  agentforge inspect task-20261121-slugify --step 9 --show diff
  agentforge inspect task-20261121-slugify --show events --json
"""
)
@click.argument("task_id", metavar="ID")
@click.option("--step", type=click.IntRange(min=1), help="Show one step; without it, the whole run.")
@click.option("--show", type=click.Choice(_VIEWS), help="What to show; the default is steps, or action with --step.")
@click.option("--raw", is_flag=True, help="With --show context: print exactly the bytes that were sent.")
@cwd_option
@json_option
def inspect(task_id: str, step: int | None, show: str | None, raw: bool, cwd: str | None, as_json: bool) -> int:
    """Look into task ID: its steps, the exact context that was sent, the calls and their results, the changes, the events.

    A step lasts until the next request, so its events include the measurements and the verdict that followed.
    """
    show = show or ("steps" if step is None else "action")
    place = open_place(cwd)
    folder = task_folder(place.cwd, task_id)
    if raw:
        if step is None or show != "context":
            raise UsageError("--raw belongs to the context of a step", hint="add --step N --show context")
        sys.stdout.buffer.write(sent_bytes(folder, step, settings=place.settings))
    elif as_json:
        write_json(inspect_value(folder, step=step, show=show))  # type: ignore[arg-type] # one of the choices
    else:
        _show(inspect_text(folder, step=step, show=show).rstrip("\n"))  # type: ignore[arg-type] # one of the choices
    return 0


def _show(text: str) -> None:
    """On a terminal through the pager, and so that nothing recorded can steer the terminal; else as it is."""
    if not sys.stdout.isatty():
        click.echo(text)
        return

    click.echo_via_pager("\n".join(printable(line.expandtabs()) for line in text.split("\n")) + "\n")
