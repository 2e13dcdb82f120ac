"""`agentforge status`: all tasks of a repository, or one in detail."""

from __future__ import annotations

import sys

import click

from agentforge.app.composition import task_queries as looking
from agentforge.app.composition.task_queries import task_folder
from agentforge.app.intake.repositories import all_repositories
from agentforge.cli.output.overview import overview_lines, overview_value, standing_words, tell_damaged, watch
from agentforge.cli.output.phrases import counted
from agentforge.cli.output.terminal import cut_words, printable, style_for, table
from agentforge.cli.runs.detachment import line_for, queued_now, row_value, state_word
from agentforge.cli.runs.follow import show_result
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.form import Form, write_json
from agentforge.cli.startup.options import cwd_option, form_of, form_options
from agentforge.errors import UsageError
from agentforge.store.log.reader import load_state
from agentforge.store.tasks.folders import TaskRow, task_row

_MOST_PAUSED = 3
_NO_REPOSITORIES = "no repositories yet; add one: agentforge repo add PATH"


@click.command(
    epilog="""\b
Examples:
  agentforge status
  agentforge status task-20261121-slugify
  agentforge status --all
  agentforge status --all --watch
  agentforge status --json
"""
)
@click.argument("task_id", metavar="[ID]", required=False)
@click.option("--all", "everywhere", is_flag=True, help="Show this repository and all of `agentforge repo list`.")
@click.option("--watch", "watched", is_flag=True, help="Update the output whenever a task changes, until Ctrl-C.")
@cwd_option
@form_options
def status(
    task_id: str | None, everywhere: bool, watched: bool, cwd: str | None, output_format: Form, as_json: bool
) -> int:
    """Show the tasks of this repository, or task ID; the start of an id is enough."""
    place = open_place(cwd)
    form = form_of(output_format, as_json=as_json)
    if everywhere and task_id is not None:
        raise UsageError("--all and an id cannot be used together", hint="leave one of them out")
    if task_id is None:
        return _show(place, form=form, everywhere=everywhere, watched=watched)
    if watched:
        return _watch_one(task_id, place)
    found = looking.load(place.cwd, task_id)
    show_result(found, place=place, form=form, queue=queued_now(found, place))
    return 0


def _show(place: Place, *, form: Form, everywhere: bool, watched: bool) -> int:
    if watched:
        if form != "text":
            raise UsageError("--watch prints text", hint="for programs: start --output-format stream-json")

        return watch(lambda: _text(place, everywhere=everywhere))
    if everywhere:
        return _show_everywhere(place, form=form)

    rows = looking.listing(place.cwd)
    if form == "text":
        click.echo(_listing_text(rows, place))
    else:
        line = line_for(rows, place)
        write_json([row_value(row, line) for row in rows])
    return tell_damaged((row.task_id, row.outcome, row.error, row.cause) for row in rows)


def _show_everywhere(place: Place, *, form: Form) -> int:
    rows = all_repositories(place.cwd, place.environ)
    line = line_for((task for row in rows for task in row.tasks), place)
    if form == "text":
        click.echo("\n".join(overview_lines(rows, line)) or _NO_REPOSITORIES)
    else:
        write_json(overview_value(rows, line))
    return tell_damaged((task.task_id, task.outcome, task.error, task.cause) for row in rows for task in row.tasks)


def _watch_one(task_id: str, place: Place) -> int:
    folder = task_folder(place.cwd, task_id)

    def words() -> str:
        row = task_row(folder)
        return f"{folder.name}: {standing_words(row, line_for([row], place))}"

    return watch(words)


def _text(place: Place, *, everywhere: bool) -> str:
    if not everywhere:
        return _listing_text(looking.listing(place.cwd), place)

    rows = all_repositories(place.cwd, place.environ)
    line = line_for((task for row in rows for task in row.tasks), place)
    return "\n".join(overview_lines(rows, line)) or _NO_REPOSITORIES


def _listing_text(tasks: list[TaskRow], place: Place) -> str:
    if not tasks:
        return 'no tasks yet; begin with: agentforge start "..."'

    style, line = style_for(sys.stdout, place.environ), line_for(tasks, place)
    cells = [
        (row.task_id, state_word(row, line), row.stage or "-", cut_words(" ".join(row.request.split()), 60))
        for row in tasks
    ]
    lines = table(cells, head=("TASK", "STATE", "STAGE", "REQUEST"), style=style)
    return "\n".join([*lines, *_next_lines(tasks)])


def _next_lines(tasks: list[TaskRow]) -> list[str]:
    """Why tasks stopped, and what to type so that they go on; the newest first."""
    lines = []
    asking = [row for row in tasks if row.outcome == "escalated"]
    if asking:
        lines += ["", f"{counted(len(asking), 'task')} {'asks' if len(asking) == 1 else 'ask'} you: agentforge resolve"]
    for row in [row for row in tasks if row.outcome == "paused"][:_MOST_PAUSED]:
        error = load_state(row.folder).progress.error or {}
        why = f": {error.get('message')}" if error else ""
        hint = f" - {error['hint']}" if error.get("hint") else ""
        lines += ["", printable(f"{row.task_id} stopped{why}{hint}"), f"  agentforge resume {row.task_id}"]
    return lines
