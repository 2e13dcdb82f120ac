"""`agentforge acp`: the agent in an editor."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from agentforge.acp_server import serve
from agentforge.cli.startup.command_context import open_place
from agentforge.config.settings import Settings

_MODES = ("on-request", "on-failure", "auto", "auto-edit", "never", "yolo")


@click.command(
    epilog="""\b
Examples:
  agentforge acp                        (an editor starts it, over standard input and output)
  agentforge acp --model openai/gpt-5.5 --approval auto-edit

\b
Zed: settings.json
  {"agent_servers": {"AgentForge": {"command": "agentforge", "args": ["acp"]}}}
"""
)
@click.option("--model", metavar="PROVIDER/NAME", help="Ask this model in every session.")
@click.option("--approval", type=click.Choice(_MODES), default=None, help="What the agent may do without asking you.")
def acp(model: str | None, approval: str | None) -> int:
    """Serve an editor (Agent Client Protocol): sessions, plans, diffs, permissions; modes plan, build, swarm and task."""
    if sys.stdin.isatty():
        click.echo(
            "agentforge acp speaks to an editor: let the editor start it (docs/acp.md); Ctrl-D ends it", err=True
        )
    serve(_place_of, model=model, approval=approval or "")
    return 0


def _place_of(cwd: str, more: Mapping[str, object]) -> tuple[Path, Mapping[str, str], Callable[[], Settings]]:
    place = open_place(cwd, flags=more)
    return place.cwd, place.environ, lambda: open_place(cwd, flags=more).settings
