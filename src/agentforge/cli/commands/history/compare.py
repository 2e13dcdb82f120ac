"""`agentforge compare`: two tasks side by side."""

from __future__ import annotations

from pathlib import Path

import click

from agentforge.app.history.comparison import compare as compared
from agentforge.cli.output.terminal import cut, printable
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.errors import UsageError
from agentforge.views.compare import compare_html, compare_lines

_WIDTH = 80


@click.command(
    epilog="""\b
Examples:
  agentforge compare task-20261121-slugify task-20261121-slugify-2
  agentforge compare task-20261121-slugify task-20261121-slugify-2 --html comparison.html
"""
)
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write one HTML file that works offline.")
@cwd_option
@json_option
def compare(first: str, second: str, html: str | None, cwd: str | None, as_json: bool) -> int:
    """Show tasks A and B side by side: stages, tokens, cost, artifacts field by field, tests, verdicts, changes."""
    place = open_place(cwd)
    value = compared(place.cwd, first, second)
    if html:
        _write(Path(html), value)
    if as_json:
        write_json(value)
    elif not html:
        click.echo("\n".join(_lines(value)))
    return 0


def show_comparison(place: Place, first: str, second: str) -> None:
    """Print the comparison of two tasks below what was printed already."""
    click.echo("\n".join(["", *_lines(compared(place.cwd, first, second))]))


def _lines(value: dict[str, object]) -> list[str]:
    return [cut(printable(line), _WIDTH) for line in compare_lines(value)]


def _write(path: Path, value: dict[str, object]) -> None:
    try:
        path.write_text(compare_html(value), "utf-8")
    except OSError as exc:
        raise UsageError(f"{path} cannot be written: {exc.strerror}", hint="name another file") from exc
