"""`agentforge notify`: what people have to be told when no run is being driven; made for cron."""

from __future__ import annotations

from pathlib import Path

import click

from agentforge.app.intake.notifications import DeliveryAttempt, open_desk, tell_due, try_ways
from agentforge.app.intake.repositories import problem_of
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.config.repositories import known_repositories
from agentforge.errors import UsageError


@click.command(
    epilog="""\b
Examples:
  agentforge notify
  agentforge notify --test
  */10 * * * * agentforge notify --all                  (in a crontab)
  agentforge notify --cwd ~/code/shop
"""
)
@click.option("--test", "is_test", is_flag=True, help="Send a test message through every channel of your settings.")
@click.option("--all", "everywhere", is_flag=True, help="For all repositories of `agentforge repo list`.")
@cwd_option
@json_option
def notify(is_test: bool, everywhere: bool, cwd: str | None, as_json: bool) -> int:
    """Send reminders and messages that were held back; answer questions whose deadline has passed.

    A run that is being worked on notifies people itself. Nobody gets the same message twice.
    """
    place = open_place(cwd)
    if not place.settings.table("notify"):
        raise UsageError(
            "the settings name no way to notify anybody",
            hint="set notify.webhook, notify.urls, notify.command or notify.desktop",
        )
    desk = open_desk(place.settings, place.environ)
    places = _repositories(place) if everywhere and not is_test else [place.cwd]
    tried = try_ways(desk) if is_test else tell_due(places, desk, settings=place.settings)
    if as_json:
        write_json(
            [
                {
                    "task_id": item.task_id or None,
                    "about": item.about,
                    "notice": item.notice,
                    "channel": item.channel,
                    "error": item.error or None,
                }
                for item in tried
            ]
        )
    else:
        for item in tried:
            click.echo(_line(item))
        if not tried:
            click.echo("nothing is due")
    return 7 if any(item.error for item in tried) else 0


def _repositories(place: Place) -> list[Path]:
    """Those of the registry that are where it says; others are named on standard error."""
    found = []
    for entry in known_repositories(place.environ).values():
        problem = problem_of(entry)
        if problem:
            click.echo(f"repository {entry.name}: {problem}", err=True)
        else:
            found.append(entry.path)
    return found


def _line(item: DeliveryAttempt) -> str:
    """What was done, and what a person may do next."""
    name = f"{item.task_id} {item.about}".strip()
    if item.notice != "deadline":
        return f"{name}: {item.notice} by {item.channel}" + (f" failed: {item.error}" if item.error else "")
    return f"{name}: nobody answered in time, so the answer is {item.channel}; carried out by: agentforge resume {item.task_id}"
