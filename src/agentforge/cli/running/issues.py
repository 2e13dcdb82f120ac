"""Starting a task from an issue, once."""

from __future__ import annotations

from collections.abc import Callable

import click

from agentforge.app.composition.task_queries import repository
from agentforge.app.intake.sources import SourceClaim, read_source
from agentforge.cli.startup.command_context import Place
from agentforge.cli.startup.form import Form, write_json


def start_once(text: str, *, place: Place, form: Form, start: Callable[[str], int]) -> int:
    """Start a task for an issue unless there is one.

    Args:
        text: a file or an address.
        start: given the request, returns the exit code.
    Returns:
        That exit code; 0 when the issue was started before.
    Side effects: prints.
    """

    source = read_source(text, environ=place.environ)
    claim = SourceClaim(source.id, str(repository(place.cwd)), place.environ)
    codes: list[int] = []

    def begin() -> str:
        codes.append(start(source.request))
        return source.id

    if claim.run(begin) is not None:
        return codes[0]
    if form == "text":
        click.echo(f"{text} was started before; see: agentforge status")
    else:
        write_json({"source": source.id, "outcome": "known"}, form=form)
    return 0
