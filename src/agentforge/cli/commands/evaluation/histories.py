"""`agentforge eval from-history | replay`: the changes of a repository as a task set, and as honest work that must pass."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from agentforge.app.composition.assembly import Models
from agentforge.cli.output.terminal import printable, style_for
from agentforge.cli.runs.follow import termination_as_interrupt
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import json_option
from agentforge.errors import UsageError, VerificationFailed
from agentforge.evals.history.commits import History, HistoryCommit, LeftOut, chosen_commits
from agentforge.evals.history.replay import Replay, recorded, replays, summary_lines
from agentforge.evals.history.task_set import Made, SetFolder, tasks_from

last_option = click.option(
    "--last",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="Look at the newest N commits.",
)
commits_option = click.option("--commits", metavar="A,B", help="Look at these commits instead.")


@click.command(
    epilog="""\b
Examples:
  agentforge eval from-history . --last 50 --out mytasks
  agentforge eval from-history ../shop --commits 1f3a9c2,v2.1 --out mytasks --model openai/gpt-5.5
  agentforge eval run mytasks --model openai/gpt-5.5
"""
)
@click.argument("repository", metavar="REPO", type=click.Path(file_okay=False, path_type=Path))
@last_option
@commits_option
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="A new folder for the tasks."
)
@click.option("--model", metavar="PROVIDER/NAME", help="Let this model write the requests; else they are the messages.")
@json_option
def from_history(repository: Path, last: int, commits: str | None, out: Path, model: str | None, as_json: bool) -> int:
    """Make a task set of the commits of REPO, a checkout in which its tests can run.

    A commit becomes a task if its own tests fail before it and pass at it. The task begins at the state before the
    commit, and the commit's tests become the hidden tests. AgentForge names every other commit with the reason. Then
    `agentforge eval run DIR` shows what AgentForge would have done with these changes, and at which cost
    (docs/howto/from-history.md).
    """
    place, history = _opened(repository)
    asked = _asked(history, last=last, commits=commits)
    folder = SetFolder.begin(out)
    models = Models(settings=place.settings, environ=place.environ, flag=model) if model else None
    made: list[Made] = []
    try:
        with termination_as_interrupt():
            writer = models.of_stage("") if models is not None else None
            for one in tasks_from(
                history, asked, folder.draft, settings=place.settings, environ=place.environ, model=writer
            ):
                made.append(one)
                if not as_json:
                    click.echo(_line(one))
            if any(one.task for one in made):
                folder.finish(made)
    finally:
        folder.drop()
        if models is not None:
            models.close()
    return _closed(made, folder.place, by_hand=model is None, as_json=as_json)


@click.command(
    epilog="""\b
Examples:
  agentforge eval replay . --last 20 --out replays
  agentforge eval replay ../shop --commits 1f3a9c2,HEAD~4 --out replays
  agentforge eval replay . --last 200 --any --out replays --json
"""
)
@click.argument("repository", metavar="REPO", type=click.Path(file_okay=False, path_type=Path))
@last_option
@commits_option
@click.option("--any", "any_", is_flag=True, help="Also play commits without tests: documents, types, configuration.")
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder for the record.",
)
@click.option("--again", is_flag=True, help="Play those that were refused once more.")
@click.option("--project", metavar="NAME", help="The name in the record; by default the folder's.")
@json_option
def replay(
    repository: Path,
    last: int,
    commits: str | None,
    any_: bool,
    again: bool,
    out: Path,
    project: str | None,
    as_json: bool,
) -> int:
    """Replay merged commits of REPO, a checkout in which its tests can run, as honest work.

    No model is asked: RED submits the commit's tests, GREEN its code, and the other artifacts are made from its message
    and diff. Exit code 4 means that AgentForge refused a commit. The record in DIR grows by a line for each commit, and
    the same command continues after it. docs/replays.md holds the figures of this project.
    """
    place, history = _opened(repository)
    asked = _asked(history, last=last, commits=commits, any_=any_)
    name = project or history.command.top.name
    out.mkdir(parents=True, exist_ok=True)
    for one in replays(history, asked, out, project=name, settings=place.settings, environ=place.environ, again=again):
        if not as_json:
            click.echo("\n".join(_replay_lines(one)))
    done = recorded(out)
    refused = [one for one in done if one.outcome == "refused"]
    if as_json:
        write_json({"ok": not refused, "folder": str(out), "replays": [asdict(one) for one in done]})
    else:
        click.echo("\n".join(summary_lines(done)))
    return VerificationFailed.exit_code if refused else 0


def _opened(repository: Path) -> tuple[Place, History]:
    """The settings that hold in the repository, and its history.

    Raises:
        UsageError: no files stand beside it.
    """
    place = open_place(str(repository))
    history = History(repository)
    if not history.has_checkout:
        raise UsageError(f"{repository} is a bare repository", hint="name a checkout, where the tests can run")
    return place, history


def _asked(
    history: History, *, last: int, commits: str | None, any_: bool = False
) -> Iterator[HistoryCommit | LeftOut]:
    shas = chosen_commits(commits) if commits else ()
    return history.read(last=last, shas=shas, keep=frozenset({"no-tests"}) if any_ else frozenset())


def _replay_lines(one: Replay) -> list[str]:
    style = style_for(sys.stdout, os.environ)
    sign, colour = {"delivered": ("done", "green"), "refused": ("failed", "red")}.get(one.outcome, ("asked", "yellow"))
    where = f" in {one.stage} by {', '.join(one.rules) or 'no rule'}" if one.outcome == "refused" else ""
    head = f"{style.paint(style.sign(sign), colour)} {one.sha[:9]} {printable(one.subject)[:60]}: {one.outcome}{where}"
    return [head, *([f"    {printable(one.message)}"] if one.message else [])]


def _line(one: Made) -> str:
    style = style_for(sys.stdout, os.environ)
    head = f"{one.sha[:9]} {printable(one.subject)[:60]}"
    if one.reason:
        return f"{style.paint(style.sign('asked'), 'yellow')} {head}: left out: {printable(one.reason)}"
    return f"{style.paint(style.sign('done'), 'green')} {head}: {one.targets} tests fail before it"


def _closed(made: list[Made], place: Path, *, by_hand: bool, as_json: bool) -> int:
    """The last lines, and the exit code: 4 when no commit became a task."""
    tasks = [one for one in made if one.task]
    if as_json:
        write_json(
            {"ok": bool(tasks), "folder": str(place) if tasks else None, "commits": [asdict(one) for one in made]}
        )
    else:
        tokens = sum(one.tokens for one in made)
        cost = f" The model wrote the requests for {tokens} tokens." if tokens else ""
        click.echo(f"{len(tasks)} tasks of {len(made)} commits, {len(made) - len(tasks)} left out.{cost}")
        if tasks and by_hand:
            click.echo(
                f"Each request is the commit's message alone. Edit them before you trust a figure: {place}/*/task.yaml"
            )
        click.echo(f"Play them: agentforge eval run {place} --model PROVIDER/NAME" if tasks else "Nothing was written.")
    return 0 if tasks else VerificationFailed.exit_code
