"""Starting tasks in several repositories, and naming the tasks that one has to wait for.

Starting a task from an issue, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from agentforge.app.composition.run_result import RunResult, exit_code, result_value
from agentforge.app.composition.task_queries import repository
from agentforge.app.intake.repositories import named_repositories
from agentforge.app.intake.sources import SourceClaim, read_source
from agentforge.cli.startup.command_context import Place
from agentforge.cli.startup.form import Form, write_json
from agentforge.errors import AgentForgeError, UsageError
from agentforge.pipeline.stages import ALIASES, ORDER
from agentforge.store.log.reader import first_record
from agentforge.store.tasks.folders import find_task

StartOne = Callable[[str, str, "Callable[[RunResult], int] | None"], int]


def start_in_each(names: Sequence[str], *, place: Place, form: Form, start_one: StartOne) -> int:
    """Start a task in every named repository, one after the other; an error in one does not keep the others.

    Args:
        start_one: given a folder, the branch to start from, and what is done with the result.
    Returns:
        The first exit code that is not 0.
    Side effects: prints; for programs one JSON array with a result per repository.
    """
    entries = named_repositories(names, cwd=place.cwd, environ=place.environ)
    if len(entries) == 1:
        return start_one(str(entries[0].path), entries[0].default_branch, None)
    codes: list[int] = []
    values: list[dict[str, object]] = []
    for entry in entries:
        if form == "text":
            click.echo(f"-- {entry.name}")
        show = None if form == "text" else _collected(values, entry.name)
        try:
            codes.append(start_one(str(entry.path), entry.default_branch, show))
        except AgentForgeError as exc:
            codes.append(exc.exit_code)
            error = {"slug": exc.slug, "message": exc.message, "hint": exc.hint}
            values.append({"name": entry.name, "outcome": "failed", "error": error})
            click.echo(f"error[{exc.slug}]: {entry.name}: {exc}", err=True)
    if form != "text":
        write_json(values, form=form)
    return next((code for code in codes if code), 0)


def needed_task(word: str, place: Place) -> dict[str, object]:
    """Read `[REPOSITORY/]TASK[:STAGE]`; the beginning of an id is enough.

    Raises:
        UsageError: there is no such repository, task or stage.
    """
    name, colon, stage = word.partition(":")
    repo, _, task = name.rpartition("/")
    wanted = ALIASES.get(stage, stage) if colon else "deliver"
    top = named_repositories([repo], cwd=place.cwd, environ=place.environ)[0].path if repo else repository(place.cwd)
    task_id, folder = find_task(top, task)
    if wanted not in ORDER:
        added = first_record(folder).get("added")
        names = (*ORDER, *(str(row.get("name")) for row in (added if isinstance(added, list) else ())))
        if wanted not in names:
            raise UsageError(f"--after {word}: no such stage", hint="one of " + ", ".join(names))
    value: dict[str, object] = {"task_id": task_id, "required_stage": wanted}
    return {**value, "repo": repo} if repo else value


def _collected(values: list[dict[str, object]], name: str) -> Callable[[RunResult], int]:
    def show(result: RunResult) -> int:
        values.append({"name": name, **result_value(result)})
        return exit_code(result)

    return show


def start_once(text: str, *, place: Place, form: Form, start: Callable[[str], int]) -> int:
    """Start a task for an issue unless there is one.

    Args:
        text: a file or an address.
        start: given the request, returns the exit code.
    Returns:
        That exit code; 0 when the issue was started before.
    Side effects: prints.
    """
    source = read_source(text, environ=place.environ)
    claim = SourceClaim(source.id, str(repository(place.cwd)), place.environ)
    codes: list[int] = []

    def begin() -> str:
        codes.append(start(source.request))
        return source.id

    if claim.run(begin) is not None:
        return codes[0]
    if form == "text":
        click.echo(f"{text} was started before; see: agentforge status")
    else:
        write_json({"source": source.id, "outcome": "known"}, form=form)
    return 0
