"""`agentforge audit`: one self-contained document about a task."""

from __future__ import annotations

import sys
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
  agentforge audit task-20261121-slugify --format pdf
  agentforge audit task-20261121-slugify -o audit.html
"""
)
@click.argument("task_id", metavar="ID")
@click.option("--format", "form", type=click.Choice(_FORMS), help="Default: by the name of FILE, else md.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Where to write it; - is standard output.",
)
@cwd_option
def audit(task_id: str, form: str | None, output: Path | None, cwd: str | None) -> int:
    """Write what task ID was asked, assumed, measured, judged and spent: a document that stands alone.

    Without FILE it goes to standard output. A PDF is kept as .agentforge/audit/ID.pdf, too, and its path is printed; a terminal
    gets the path alone.
    """
    place = open_place(cwd)
    named = output.suffix.lstrip(".") if output is not None else ""
    chosen = form or (named if named in _FORMS else "md")
    found = looking.load(place.cwd, task_id).folder
    made = write_audit(found, form=chosen)  # type: ignore[arg-type] # one of the choices
    if output is not None and str(output) != "-":
        path = place.cwd / output
        _write(path, made)
        click.echo(f"{path}: {len(made)} bytes")
        return 0
    if chosen == "pdf" and output is None:
        path = found.parents[1] / "audit" / f"{found.name}.pdf"
        _write(path, made)
        shown = sys.stdout.isatty()
        click.echo(f"{path}: {len(made)} bytes", err=not shown)
        if shown:
            return 0
    sys.stdout.flush()
    sys.stdout.buffer.write(made)
    return 0


def _write(path: Path, made: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made)
    except OSError as exc:
        raise UsageError(f"{path} cannot be written: {exc.strerror}", hint="name another file: -o FILE") from exc
