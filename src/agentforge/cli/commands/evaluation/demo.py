"""`agentforge demo`: the whole way on a small real repository, with recorded replies."""

from __future__ import annotations

import click

from agentforge.app.tasks.demo import run_demo
from agentforge.cli.runs.follow import follow
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import Form
from agentforge.cli.startup.options import form_of, form_options


@click.command(
    epilog="""\b
Examples:
  agentforge demo
  agentforge demo --json
"""
)
@form_options
def demo(output_format: Form, as_json: bool) -> int:
    """Run a real request on a real repository in a temporary folder.

    The model's replies are a recording; git, the tests, the sandbox, the verification and the branch are real.
    """

    form = form_of(output_format, as_json=as_json)
    if form == "text":
        click.echo("The model's replies are recorded; everything else happens now, on this machine.")
    return follow(run_demo, place=open_place(None), form=form)
