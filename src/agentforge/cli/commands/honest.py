"""`agentforge eval honest`: honest work that no rule may refuse."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from agentforge.cli.output.terminal import Style, printable, style_for
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import json_option
from agentforge.errors import VerificationFailed
from agentforge.evals.honest_case import chosen_honest, load_honest
from agentforge.evals.honest_suite import run_honest, summary
from agentforge.testing.launch import remove

if TYPE_CHECKING:
    from agentforge.evals.cheat_run import SideResult


@click.command(
    "honest",
    epilog="""\b
Examples:
  agentforge eval honest
  agentforge eval honest lookup-table twin:js-only
  agentforge eval honest --twins -j 4 --json
""",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--twins", is_flag=True, help="The honest twins of the catalogue of cheats as well, as twin:NAME.")
@click.option("-j", "processes", type=click.IntRange(min=1), help="Cases at a time; by default one per core.")
@json_option
def honest(names: tuple[str, ...], twins: bool, processes: int | None, as_json: bool) -> int:
    """Play honest solutions of ordinary requests, or the named ones, through the whole pipeline.

    Each must be delivered, and no stage may refuse it at its first attempt; exit code 4 when one was refused. No model is asked,
    nothing is written but a temporary folder. docs/honest.md lists the cases.
    """
    import tempfile
    from pathlib import Path

    chosen = []
    for name in chosen_honest(names, twins=twins):
        if reason := load_honest(name).missing:
            click.echo(f"left out: {name}: {reason}", err=True)
        else:
            chosen.append(name)
    style, width = style_for(sys.stdout, os.environ), max(map(len, chosen), default=0)
    done: list[SideResult] = []
    folder = Path(tempfile.mkdtemp(prefix="agentforge-honest-"))
    try:
        for result in run_honest(chosen, processes=processes or os.cpu_count() or 1, folder=folder):
            done.append(result)
            if not as_json:
                click.echo("\n".join(honest_lines(result, width=width, style=style)))
    finally:
        remove(folder)
    held = bool(done) and all(one.right for one in done)
    if as_json:
        write_json(
            {
                "ok": held,
                "summary": summary(done),
                "cases": [{"name": one.name, **side_value(one)} for one in sorted(done, key=lambda one: one.name)],
            }
        )
    else:
        click.echo(summary(done))
    return 0 if held else VerificationFailed.exit_code


def honest_lines(result: SideResult, *, width: int, style: Style) -> list[str]:
    """The row of an honest case, and why it was refused when it was."""
    mark = style.paint(style.sign("done"), "green") if result.right else style.paint(style.sign("failed"), "red")
    told = "delivered" if result.right else f"REFUSED ({result.outcome}, {result.stage})"
    first = f"{mark} {result.name:<{width}}  {told}  ({result.duration_s:.1f} s)"
    return [first] if result.right else [first, f"    {printable(result.detail)}"]


def side_value(result: SideResult) -> dict[str, object]:
    """What became of one side of a case as a JSON value."""
    return {
        "ok": result.right,
        "outcome": result.outcome,
        "stage": result.stage,
        "rules": list(result.rules),
        "detail": result.detail,
        "duration_s": result.duration_s,
    }
