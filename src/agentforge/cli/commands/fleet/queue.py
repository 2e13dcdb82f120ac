"""`agentforge queue`: what waits for a worker, and holding it back."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from agentforge.app.intake.repositories import top_of
from agentforge.cli.output.terminal import cut, printable, shown_table
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.flag import UsualGroup
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.config.repositories import known_repositories, unknown_repository
from agentforge.fleet import LIVE, Database, Job, Ledger, Schedules, database_url, open_database


@click.group(
    cls=UsualGroup,
    epilog="""\b
Examples:
  agentforge start "Add a --json flag" --detach
  agentforge queue list
  agentforge queue pause task-20261121-slugify
  agentforge queue cancel api/task-20261121-slugify
""",
)
def queue() -> None:
    """Show and change the queue that the workers share."""


@queue.command(
    name="list", epilog="\b\nExamples:\n  agentforge queue list\n  agentforge queue list --all --limit 1000 --json"
)
@click.option("--all", "everything", is_flag=True, help="Also list jobs that are over.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="Show at most this many.")
@cwd_option
@json_option
def list_jobs(everything: bool, limit: int, cwd: str | None, as_json: bool) -> int:
    """List the queue in its order, and the schedules."""
    _, database, ledger = _opened(cwd)
    jobs = ledger.jobs(statuses=() if everything else (*LIVE, "quarantined"), limit=limit)
    counts, schedules = ledger.counts(), Schedules(database).all()
    if as_json:
        value = {"paused": ledger.paused(), "counts": counts, "jobs": [asdict(job) for job in jobs]}
        write_json({**value, "schedules": [asdict(item) for item in schedules]})
        return 0
    if ledger.paused():
        click.echo("the queue is paused: agentforge queue resume")
    cells = [(job.task_id, job.status, str(job.priority), str(job.attempt), job.repo, _note(job)) for job in jobs]
    if cells:
        head = ("TASK", "STATE", "PRIORITY", "ATTEMPT", "REPOSITORY", "NOTE")
        click.echo(shown_table(cells, head=head))
    total = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    click.echo(total or "the queue is empty")
    for item in schedules:
        when, what = f"{item.cron or 'once'}, next {_moment(item.next_at)}", printable(" ".join(item.arguments))
        gone = "" if Path(item.folder).is_dir() else " - that folder is not on this machine: nothing is started here"
        click.echo(f"schedule {item.id}: {when}: {what} in {item.folder}{gone}")
    return 0


@queue.command(epilog="\b\nExamples:\n  agentforge queue pause\n  agentforge queue pause task-20261121-slugify")
@click.argument("task", metavar="[[REPOSITORY/]TASK]", required=False)
@cwd_option
def pause(task: str | None, cwd: str | None) -> int:
    """Hold TASK back after its current step; without TASK, start nothing more from the queue."""
    place, _, ledger = _opened(cwd)
    if task is None:
        ledger.hold(paused=True)
        click.echo("the queue is paused; what runs goes on")
    else:
        _set_aside(place, ledger, task, "paused")
    return 0


@queue.command(epilog="\b\nExamples:\n  agentforge queue resume\n  agentforge queue resume task-20261121-slugify")
@click.argument("task", metavar="[[REPOSITORY/]TASK]", required=False)
@cwd_option
def resume(task: str | None, cwd: str | None) -> int:
    """Let TASK continue, even if it was quarantined; without TASK, the whole queue."""
    place, _, ledger = _opened(cwd)
    if task is None:
        ledger.hold(paused=False)
        click.echo("the queue goes on")
    else:
        _set_aside(place, ledger, task, "queued")
    return 0


@queue.command(
    epilog="\b\nExamples:\n  agentforge queue cancel task-20261121-slugify\n  agentforge queue cancel 3f2a9c"
)
@click.argument("task", metavar="[REPOSITORY/]TASK")
@cwd_option
def cancel(task: str, cwd: str | None) -> int:
    """Take TASK, or a schedule, out of the queue; the task itself stays and can be resumed by hand, or aborted."""
    place, database, ledger = _opened(cwd)
    schedules = Schedules(database)
    if any(item.id == task for item in schedules.all()):
        schedules.remove(task)
        click.echo(f"schedule {task} is cancelled")
    else:
        _set_aside(place, ledger, task, "cancelled")
    return 0


def _set_aside(place: Place, ledger: Ledger, task: str, status: str) -> None:
    here, repo = top_of(place.cwd), None
    name, slash, rest = task.rpartition("/")
    if slash:
        known = known_repositories(place.environ, project=here)
        if name not in known:
            raise unknown_repository(name, known)
        repo = known[name].path
    job = ledger.find(rest, repo=repo, here=here)
    ledger.set_aside(job, status)
    click.echo(f"{job.task_id} is {status}")


def _opened(cwd: str | None) -> tuple[Place, Database, Ledger]:
    place = open_place(cwd)
    database = open_database(database_url(place.settings, place.environ))
    click.get_current_context().call_on_close(database.close)
    return place, database, Ledger(database)


def _moment(seconds: float) -> str:
    """A moment in local time."""
    return f"{datetime.fromtimestamp(seconds, tz=UTC).astimezone():%Y-%m-%d %H:%M %Z}"


def _note(job: Job) -> str:
    return cut(printable(job.note), 60) or "-"
