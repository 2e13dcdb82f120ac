"""`agentforge gc`: make room, without losing anything that was not delivered."""

from __future__ import annotations

import re

import click

from agentforge.app.sessions.display import size_text
from agentforge.app.sync.retention import Collected, collect, collect_remote
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.config.durations import parse_duration


class Age(click.ParamType[float]):
    """An age such as 30d, 12h or 90m, in seconds."""

    name = "age"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read days here, everything else as a duration."""
        if isinstance(value, float):
            return value
        days = re.fullmatch(r"([0-9]+)d", str(value))
        try:
            return int(days[1]) * 86_400.0 if days else float(parse_duration(str(value)))
        except ValueError as exc:
            self.fail(f"{exc}; or days, like 30d", param, ctx)


@click.command(
    epilog="""\b
Examples:
  agentforge gc --dry-run
  agentforge gc
  agentforge gc --older-than 30d --json
  agentforge gc --remote --older-than 90d
"""
)
@click.option("--older-than", type=Age(), metavar="AGE", help="Also remove delivered runs that are older: 30d, 12h.")
@click.option(
    "--remote", is_flag=True, help="Remove refs of old runs (30d, or --older-than) at the remote of fleet.remote."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@cwd_option
@json_option
def gc(older_than: float | None, remote: bool, dry_run: bool, cwd: str | None, as_json: bool) -> int:
    """Remove worktrees of tasks that are over and, by age, delivered runs; never what is not finished or not delivered."""
    place = open_place(cwd)
    done = Collected()
    if remote:  # before anything of it goes here: what this machine does not have stays there
        name = place.settings.text("fleet.remote") or "origin"
        done = collect_remote(place.cwd, remote=name, older_than_s=older_than, dry_run=dry_run)
    done += collect(place.cwd, environ=place.environ, older_than_s=older_than, dry_run=dry_run)
    rows = [
        {"kind": item.kind, "name": item.name, "path": str(item.path), "bytes": item.size_bytes, "reason": item.reason}
        for item in done.removed
    ]
    if as_json:
        kept = [{"task_id": name, "reason": reason} for name, reason in done.kept]
        write_json({"dry_run": dry_run, "removed": rows, "bytes": done.size_bytes, "kept": kept})
        return 0
    for item in done.removed:
        click.echo(f"{item.kind} {item.name}: {size_text(item.size_bytes)}, {item.reason}")
    for name, reason in done.kept:
        click.echo(f"kept {name}: {reason}")
    word = "would be removed" if dry_run else "removed"
    click.echo(f"{len(rows)} {word}, {size_text(done.size_bytes)}")
    return 0
