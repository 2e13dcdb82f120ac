"""`agentforge serve-webhook`: issues become tasks when they are opened."""

from __future__ import annotations

import signal
from pathlib import Path
from types import FrameType

import click

from agentforge.app.composition.task_queries import repository
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.options import cwd_option
from agentforge.fleet import enqueue_source, make_server, read_secret


@click.command(
    name="serve-webhook",
    epilog="""\b
Examples:
  openssl rand -hex 32 > secret && chmod 600 secret
  agentforge serve-webhook --secret-file secret --label agentforge
  agentforge serve-webhook --secret-file secret --port 0
""",
)
@click.option("--secret-file", required=True, type=click.Path(), metavar="FILE", help="The secret of the webhook.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; a tunnel or proxy leads there.")
@click.option("--port", type=click.IntRange(0, 65535), default=8461, show_default=True, help="0 takes a free one.")
@click.option("--label", default="", help="Only issues with this label.")
@cwd_option
def serve_webhook(secret_file: str, host: str, port: int, label: str, cwd: str | None) -> int:
    """Take GitHub's webhooks about issues, and put a task of this repository into the queue for each.

    A delivery must be signed (HMAC SHA-256, X-Hub-Signature-256); a repeated delivery starts nothing.
    """
    place = open_place(cwd)
    repo = repository(place.cwd)
    server = make_server(
        host,
        port,
        secret=read_secret(Path(secret_file)),
        label=label,
        enqueue=lambda source: enqueue_source(source, repo, environ=place.environ),
        environ=place.environ,
        tell=lambda line: click.echo(line),
    )
    signal.signal(signal.SIGTERM, _interrupt)
    click.echo(f"listening on http://{host}:{server.server_address[1]} for issues of {repo}")
    try:
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        return 0
    finally:
        server.server_close()
    return 0


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
