"""`agentforge sessions`: list, show, search, rename, fork, delete."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from agentforge.app.composition.recordings import recording_of
from agentforge.app.composition.task_queries import task_folder
from agentforge.app.sessions.closed_sessions import (
    all_sessions,
    delete as delete_session,
    fork as fork_session,
    rename as rename_session,
    search as search_sessions,
    session_state,
)
from agentforge.app.sessions.report import exported, report_value
from agentforge.app.slash.report import report_lines
from agentforge.cli.output.terminal import cut, printable, shown_table
from agentforge.cli.startup.command_context import open_working_place
from agentforge.cli.startup.flag import UsualGroup
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.errors import StorageError, UsageError


@click.group(
    cls=UsualGroup,
    epilog="""\b
Examples:
  agentforge sessions list --here
  agentforge sessions show 3f2a
  agentforge sessions search "retry"
  agentforge sessions rename 3f2a "parser work"
""",
)
def sessions() -> None:
    """List, show, search, rename, fork and delete the agent's sessions."""


@sessions.command("list")
@click.option("--here", is_flag=True, help="Only those of this folder.")
@click.option("--page", type=click.IntRange(min=1), default=1, help="Which page.")
@click.option("--limit", type=click.IntRange(min=1), default=20, help="Sessions on a page.")
@cwd_option
@json_option
def list_command(here: bool, page: int, limit: int, cwd: str | None, as_json: bool) -> int:
    """List the sessions, the most recently used one first."""
    place = open_working_place(cwd)
    rows = all_sessions(place.environ, cwd=place.cwd if here else None)
    if as_json:
        write_json([asdict(row) for row in rows])
        return 0
    shown = rows[(page - 1) * limit : page * limit]
    cells = [
        (
            row.session_id[:8],
            row.updated_at[:16],
            f"{row.turns:>5}",
            cut(printable((row.name or row.goal) + (" (cut off)" if row.open else "")), 80),
        )
        for row in shown
        if not row.problem
    ]
    for row in shown:
        if row.problem:
            sys.stderr.write(f"skipped {row.session_id}: {printable(row.problem)}\n")
    if cells:
        head = ("SESSION", "LAST USED", "TURNS", "WHAT")
        click.echo(shown_table(cells, head=head))
    elif not rows:
        click.echo('no sessions yet; begin with: agentforge run "..."')
    return 0


@sessions.command()
@click.argument("session", metavar="ID")
@cwd_option
@json_option
def show(session: str, cwd: str | None, as_json: bool) -> int:
    """Show one session: its report and its last messages."""
    state = session_state(open_working_place(cwd).environ, session)
    value = report_value(state)
    if as_json:
        write_json(value)
        return 0
    lines = report_lines(value)
    lines += [
        f"{entry.kind:>9}: {cut(printable(' '.join(entry.text.split())), 100)}" for entry in state.talk.entries[-10:]
    ]
    click.echo("\n".join(lines))
    return 0


@sessions.command()
@click.argument("text")
@cwd_option
@json_option
def search(text: str, cwd: str | None, as_json: bool) -> int:
    """Find TEXT in what was said in any session."""
    if not text.strip():
        raise UsageError("there is no text to search for")
    hits = search_sessions(open_working_place(cwd).environ, text)
    if as_json:
        write_json([asdict(hit) for hit in hits])
        return 0
    found = 0
    for hit in hits:
        found += 1
        click.echo(f"{hit.session_id[:8]} turn {hit.turn} {hit.who}: {printable(hit.text)}")
    if not found:
        click.echo("nothing was found")
    return 0


@sessions.command()
@click.argument("session", metavar="ID")
@click.argument("name")
@cwd_option
def rename(session: str, name: str, cwd: str | None) -> int:
    """Give session ID the name NAME."""
    click.echo(f"{rename_session(open_working_place(cwd).environ, session, name)} is called {name}")
    return 0


@sessions.command()
@click.argument("session", metavar="ID")
@click.option("--name", default="", help="Name of the copy.")
@cwd_option
@json_option
def fork(session: str, name: str, cwd: str | None, as_json: bool) -> int:
    """Begin a new session with the conversation of ID; of a damaged one with what can still be read."""
    place = open_working_place(cwd)
    made = fork_session(place.environ, session, settings=place.settings, name=name, tell=_tell)
    write_json({"session_id": made}) if as_json else click.echo(made)
    return 0


@sessions.command()
@click.argument("session", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@cwd_option
def delete(session: str, yes: bool, cwd: str | None) -> int:
    """Remove session ID with its checkpoints; your files stay as they are."""
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError(f"deleting {session} needs confirmation", hint="pass --yes")
        click.confirm(f"Delete session {session} and its checkpoints?", abort=True)
    click.echo(f"deleted {delete_session(open_working_place(cwd).environ, session)}")
    return 0


@click.command(
    epilog="""\b
Examples:
  agentforge export --format html > session.html
  agentforge export 3f2a -o session.md
  agentforge export task-20261121-slugify --format recording -o replies.jsonl
  agentforge start "the same request" --model recorded/replies.jsonl
"""
)
@click.argument("session", metavar="[ID]", default="")
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "html", "json", "recording"]),
    default="md",
    show_default=True,
    help="The format of the document. `recording` writes the replies of a task, for the model recorded/FILE.",
)
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Write to this file instead of standard output.")
@cwd_option
def export(session: str, form: str, output: str | None, cwd: str | None) -> int:
    """Write session ID, else the last one, as a document; or the replies of task ID, so that it can be played again."""
    place = open_working_place(cwd)
    if form == "recording":
        text = _recording(place.cwd, session)
    else:
        text = exported(session_state(place.environ, session or _last(place.environ)), form)
    if output is None:
        click.echo(text, nl=False)
        return 0
    try:
        Path(output).write_text(text, encoding="utf-8", errors="replace")
    except OSError as exc:
        raise StorageError(f"{output} cannot be written: {exc.strerror}") from exc
    return 0


def _recording(cwd: Path, task: str) -> str:
    if not task:
        raise UsageError(
            "no task was named", hint="agentforge export TASK --format recording; `agentforge status` lists them"
        )
    return recording_of(task_folder(cwd, task)).decode()


@click.command(
    epilog="""\b
Examples:
  agentforge report
  agentforge report --json --session-id 3f2a
"""
)
@click.option("--session-id", "session", default="", metavar="ID", help="This session instead of the last one.")
@cwd_option
@json_option
def report(session: str, cwd: str | None, as_json: bool) -> int:
    """Show the report of a session: what was done, used and changed."""
    environ = open_working_place(cwd).environ
    value = report_value(session_state(environ, session or _last(environ)))
    write_json(value) if as_json else click.echo("\n".join(report_lines(value)))
    return 0


def _last(environ: Mapping[str, str]) -> str:
    """The session that was used last, wherever."""
    rows = [row for row in all_sessions(environ) if not row.problem and not row.imported]
    if not rows:
        raise UsageError("there is no session yet", hint='begin one: agentforge run "..."')
    return rows[0].session_id


def _tell(text: str) -> None:
    click.echo(f"note: {printable(text)}", err=True)
