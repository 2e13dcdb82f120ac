"""`agentforge dashboard`: the tasks in a browser."""

from __future__ import annotations

import os
import webbrowser
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import click

from agentforge.cli.runs.follow import user_name
from agentforge.cli.startup.command_context import Place, folder_of, open_place
from agentforge.cli.startup.options import cwd_option
from agentforge.config.paths import data_dir
from agentforge.dashboard import Registered, Repository, ServeOptions, named_repositories, serve
from agentforge.errors import RepositoryError


@click.command(
    epilog="""\b
Examples:
  agentforge dashboard --open
  agentforge dashboard --port 8765 --repo ~/backend --repo ~/gateway
  agentforge dashboard --port 8765 --token-file ~/.agentforge/dashboard.token --read-only
  curl -H "Authorization: Bearer $(cat ~/.agentforge/dashboard.token)" http://127.0.0.1:8765/metrics
"""
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Listen here; beyond loopback only with --allow-host."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default="any free one", help="Listen at this port."
)
@click.option("--open", "open_browser", is_flag=True, help="Open it in your browser.")
@click.option(
    "--repo",
    "repos",
    multiple=True,
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Show this repository; repeatable.",
)
@click.option("--read-only", is_flag=True, help="Show everything, change nothing.")
@click.option(
    "--token-file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Keep the token in this file instead of making a new one at each start.",
)  # fmt: skip
@click.option("--allow-host", "allowed", multiple=True, metavar="NAME", help="Answer under this host name, too.")
@click.option("--public-metrics", is_flag=True, help="Give /metrics to whoever asks, without the token.")
@cwd_option
def dashboard(cwd: str | None, open_browser: bool, repos: tuple[str, ...], **given: Any) -> int:
    """Show tasks live in a browser: stages, artifacts, changes, verification, trail, questions to answer.

    Shows the repositories of --repo, else those of the registry and the current one. The printed address holds the token.
    Ctrl-C ends the dashboard; tasks that it started go on.
    """
    place = open_place(cwd)
    repositories = _repositories(place, repos)
    options = ServeOptions(
        host=given["host"],
        port=given["port"],
        allowed_hosts=given["allowed"],
        token_file=given["token_file"],
        read_only=given["read_only"],
        public_metrics=given["public_metrics"],
    )

    def ready(address: str) -> None:
        click.echo(f"dashboard: {address}")
        if open_browser:
            _open(address, place)

    try:
        serve(repositories, options, environ=place.environ, user=user_name(place), ready=ready)
    except KeyboardInterrupt:
        click.echo("dashboard closed", err=True)
    return 0


def _repositories(place: Place, repos: tuple[str, ...]) -> Callable[[], Sequence[Repository]]:
    """The named ones; else the registered ones, with the current one where there is one."""
    if repos:
        named = named_repositories([folder_of(repo) for repo in repos])
        return lambda: named
    try:
        here = named_repositories([place.cwd])
    except RepositoryError:
        registered = Registered(place.environ, more=[])
        if not registered():
            raise
        return registered
    return Registered(place.environ, more=here)


def _open(address: str, place: Place) -> None:
    """Lead the browser there by a private file: a command line can be read by every user of the machine."""
    path = data_dir(place.environ) / "dashboard.html"
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(address)}">\n')
    if not webbrowser.open(path.as_uri()):
        click.echo("no browser could be opened; open the address yourself", err=True)
