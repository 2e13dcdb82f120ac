"""`agentforge audit`: one self-contained document about a task."""

from __future__ import annotations

from pathlib import Path

import click

from agentforge.app.composition import task_queries as looking
from agentforge.app.proof.audit import audit as write_audit
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.options import cwd_option
from agentforge.errors import UsageError

_FORMS = ("md", "html", "pdf", "json")


@click.command(
    epilog="""\b
Examples:
  agentforge audit task-20261121-slugify
  agentforge audit task-20261121-slugify --format html -o audit.html
  agentforge audit task-20261121-slugify -o audit.pdf
"""
)
@click.argument("task_id", metavar="ID")
@click.option("--format", "form", type=click.Choice(_FORMS), help="Default: by the name of FILE, else md.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Where to write it."
)
@cwd_option
def audit(task_id: str, form: str | None, output: Path | None, cwd: str | None) -> int:
    """Write what task ID was asked, assumed, measured, judged and spent: a document that stands alone."""

    place = open_place(cwd)
    named = output.suffix.lstrip(".") if output is not None else ""
    chosen = form or (named if named in _FORMS else "md")
    if chosen == "pdf" and output is None:
        raise UsageError("a PDF is no text for a terminal", hint="name a file: -o audit.pdf")
    made = write_audit(looking.load(place.cwd, task_id).folder, form=chosen)  # type: ignore[arg-type] # one of the choices
    if output is None:
        click.echo(made.decode("utf-8").rstrip("\n"))
    else:
        path = place.cwd / output
        path.write_bytes(made)
        click.echo(f"{path}: {len(made)} bytes")
    return 0
