"""`agentforge mcp`: other agents hand work over and ask for proof."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from agentforge.cli.running.follow import user_name
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.options import cwd_option
from agentforge.errors import UsageError
from agentforge.mcp_server.ground import Ground
from agentforge.mcp_server.serving import HttpOptions, serve_http, serve_stdio


@click.command(
    epilog="""\b
Examples:
  agentforge mcp                                        (an agent starts it, over standard input and output)
  agentforge mcp --http --port 8766
  agentforge mcp --http --port 8766 --token-file ~/.agentforge/mcp.token --read-only
  claude mcp add agentforge -- agentforge mcp --cwd ~/project

\b
Tools: start, status, escalations, resolve, inspect, audit, verify, compare.
Resources: agentforge://TASK/state, /trail, /audit, /diff, /artifacts/STAGE.
"""
)
@click.option("--http", "over_http", is_flag=True, help="Listen on this machine (streamable HTTP) instead.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: a loopback address.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default="any free one", help="With --http: listen here."
)
@click.option(
    "--token-file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="With --http: keep the token in this file instead of making a new one at each start.",
)  # fmt: skip
@click.option("--read-only", is_flag=True, help="Offer only what changes nothing.")
@cwd_option
def mcp(over_http: bool, host: str, port: int, token_file: Path | None, read_only: bool, cwd: str | None) -> int:
    """Serve the tasks of this repository to other agents (Model Context Protocol)."""

    place = open_place(cwd)
    ground = Ground(cwd=place.cwd, environ=place.environ, user=user_name(place), read_only=read_only)
    if not over_http:
        if port or token_file is not None:
            raise UsageError("--port and --token-file belong to --http", hint="add --http")
        if sys.stdin.isatty():
            click.echo(
                "agentforge mcp speaks to an agent: let the agent start it (docs/mcp-server.md); Ctrl-D ends it",
                err=True,
            )
        serve_stdio(ground)
        return 0

    def ready(address: str, token: str) -> None:
        click.echo(f"mcp: {address}\nheader: Authorization: Bearer {token}")

    serve_http(ground, HttpOptions(host=host, port=port, token_file=token_file), ready=ready)
    return 0
