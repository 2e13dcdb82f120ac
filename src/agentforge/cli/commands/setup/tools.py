"""`agentforge tools`: what a session in this folder could call, and what was not loaded."""

from __future__ import annotations

import os
from pathlib import Path

import click

from agentforge.app.tools.folder_tools import tool_list
from agentforge.cli.output.terminal import shown_table
from agentforge.cli.startup.flag import UsualGroup
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import json_option


@click.group(
    cls=UsualGroup,
    epilog="""\b
Examples:
  agentforge tools list
  agentforge tools list --mode plan --json
""",
)
def tools() -> None:
    """See the tools of the agent: built in, your own, the project's, those of MCP servers."""


@tools.command(
    "list",
    epilog="""\b
Examples:
  agentforge tools list
  agentforge tools list --json
""",
)
@click.option(
    "--mode", "work_mode", type=click.Choice(["build", "plan"]), default="build", help="List the tools of this mode."
)
@json_option
def list_tools(work_mode: str, as_json: bool) -> int:
    """List the tools that can be called here; servers that were never seen are started to ask them."""
    listed = tool_list(Path.cwd(), os.environ, work_mode=work_mode)
    if as_json:
        write_json({"tools": [one.value() for one in listed.tools], "refused": dict(listed.refused)})
        return 0
    cells = [(one.name, one.origin, one.description[:90]) for one in listed.tools]
    click.echo(shown_table(cells, head=("TOOL", "FROM", "DOES")))
    for name, why in listed.refused.items():
        click.echo(f"not loaded: {name}: {why}", err=True)
    return 0
