"""Starting a task without driving it: into the queue now, or by the clock.

Where tasks that nobody drives stand in the queue; it is looked at only when there are such tasks.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from agentforge.app.composition.run_result import RunResult, outcome_of, result_value
from agentforge.app.tasks.runs import create
from agentforge.app.tasks.start_options import StartOptions
from agentforge.cli.startup.command_context import Place
from agentforge.cli.startup.form import Form, write_json
from agentforge.errors import UsageError
from agentforge.fleet import (
    Ledger,
    Line,
    Queued,
    Schedules,
    cron_of,
    database_url,
    look_at_line,
    next_time,
    open_database,
    time_of,
)
from agentforge.store.tasks.folders import TaskRow

_NOT_THE_TASKS = frozenset({"at", "every", "detach", "output_format", "as_json", "cwd", "from_issue"})


def enqueue(
    options: StartOptions, *, place: Place, form: Form, priority: int, show: Callable[[RunResult], int] | None = None
) -> int:
    """Create a task and put it into the queue.

    Returns:
        0.
    Side effects: prints the task's id.
    """
    url = database_url(place.settings, place.environ)
    with closing(open_database(url)) as database:  # before there is a task that nobody drives
        result = create(options, settings=place.settings, environ=place.environ, watch=lambda _event, _state: None)
        Ledger(database).add(Path(result.state.identity.repo), result.state.identity.run_id, priority=priority)
    if show is not None:
        show(result)
    elif form != "text":
        write_json({**result_value(result), "outcome": "queued"}, form=form)
    else:
        click.echo(f"{result.state.identity.run_id} is queued; a worker drives it: agentforge worker")
    return 0


def schedule(request: str, *, place: Place, at: str | None, every: str | None, form: Form) -> int:
    """Have a task started later, once or again and again.

    Returns:
        0.
    Raises:
        UsageError: a time or rhythm that cannot be read, or both.
    Side effects: prints what was scheduled, and the line by which cron does the same without a worker.
    """
    if at and every:
        raise UsageError("--at and --every cannot be used together", hint="use one of them")
    cron = cron_of(every) if every else ""
    arguments = [*_given_flags(), "--", request]
    with closing(open_database(database_url(place.settings, place.environ))) as database:
        now = datetime.fromtimestamp(database.clock(), tz=UTC)  # the clock that the workers go by, whatever is set here
        first = next_time(cron, after=now.timestamp()) if cron else time_of(at or "", now=now)
        item = Schedules(database).add(cron=cron, next_at=first, arguments=arguments, folder=place.cwd)
    when = datetime.fromtimestamp(item.next_at, tz=UTC).isoformat(timespec="seconds")
    line = _cron_line(cron, arguments, place) if cron else ""
    if form != "text":
        write_json({"schedule": item.id, "next": when, "cron": cron, "crontab": line}, form=form)
        return 0
    click.echo(f"schedule {item.id}: next at {when}; a worker must run then (agentforge worker)")
    if line:
        click.echo(f"or without a worker, by this line in your crontab:\n{line}")
    return 0


def _given_flags() -> list[str]:
    """The flags of this command line that hold for the task as well."""
    context = click.get_current_context()
    words: list[str] = []
    for param in context.command.params:
        value = context.params.get(param.name or "")
        given = context.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        if not isinstance(param, click.Option) or param.name in _NOT_THE_TASKS or not given:
            continue
        if param.is_flag or param.flag_value == value:
            words += [param.opts[0]] if value in (True, param.flag_value) else []
        else:
            words += [
                word for one in (value or () if param.multiple else (value,)) for word in (param.opts[0], str(one))
            ]
    return words


def _cron_line(cron: str, arguments: list[str], place: Place) -> str:
    command = shlex.join([sys.executable, "-m", "agentforge", "start", *arguments])
    return f"{cron} cd {shlex.quote(str(place.cwd))} && {command}".replace("%", "\\%")


def line_for(tasks: Iterable[TaskRow], place: Place) -> Line:
    """The queue, as far as it matters to some tasks.

    Side effects: says on standard error that it cannot be read.
    """
    return _line(place, wanted=any(task.outcome == "paused" for task in tasks))


def queued_now(result: RunResult, place: Place) -> Line:
    """The queue, as far as it matters to one run."""
    open_questions = result.state.people.open_escalations
    return _line(place, wanted=not open_questions and outcome_of(result.state, running=result.running) == "paused")


def state_word(task: TaskRow, line: Line) -> str:
    """How a task stands, in a cell of a table."""
    if task.attempt and task.outcome == "aborted":  # how an attempt ends, the chosen one too: its parent delivers
        return f"attempt {task.attempt}, over"
    queued = _queued(task, line)
    return queued.words if queued is not None else task.outcome


def row_value(task: TaskRow, line: Line) -> dict[str, Any]:
    """A task for programs; `queue` says where it stands in the queue, None = it does not, or is being driven."""
    return {**asdict(task), "queue": queue_value(_queued(task, line))}


def queue_value(queued: Queued | None) -> dict[str, Any] | None:
    """A place in the queue for programs."""
    return None if queued is None else asdict(queued)


def _queued(task: TaskRow, line: Line) -> Queued | None:
    return line.of(task.folder) if task.outcome == "paused" else None


def _line(place: Place, *, wanted: bool) -> Line:
    if not wanted:
        return Line(standing={})
    found = look_at_line(place.settings, place.environ)
    if found.trouble:
        sys.stderr.write(f"what stands in the queue is not shown: {found.trouble}\n")
    return found
