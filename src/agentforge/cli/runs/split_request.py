"""One request in several parts: planned first, then the parts are driven one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import click

from agentforge.app.composition.run_result import RunResult, exit_code, result_value
from agentforge.app.tasks import runs as tasks
from agentforge.app.tasks.parts import SplitPart, parts_of
from agentforge.app.tasks.runs import start
from agentforge.app.tasks.split_runs import planned
from agentforge.app.tasks.start_options import Watch
from agentforge.cli.commands.tasks.start import options_of
from agentforge.cli.output.summary import label_of
from agentforge.cli.output.terminal import printable
from agentforge.cli.runs.detachment import enqueue
from agentforge.cli.runs.follow import follow, show_result
from agentforge.cli.runs.trust_prompt import ensure_trust
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.form import Form, result_line, write_json
from agentforge.errors import AgentForgeError, UsageError
from agentforge.pipeline.workflows.split.parts import REPOSITORIES

_OVER = ("delivered", "analyzed", "failed", "aborted")
_OF_ONE = ("base", "include_dirty", "tests", "compare_to")


def start_split(request: str, given: dict[str, Any], *, place: Place, form: Form) -> int:
    """Plan a request over the repositories of `--repo`, else over this one, then start a task for each part.

    Returns:
        The first exit code that is not 0: of the plan, else of the parts.
    Raises:
        UsageError: flags that belong to one repository.
    """
    for name in _OF_ONE:
        if given[name]:
            raise UsageError(f"--{name.replace('_', '-')} belongs to one repository", hint="leave it out with --split")
    wanted = options_of(
        request, {**given, "approve": tuple(word for word in given["approve"] if word != "plan")}, place
    )
    approve = (*(("plan",) if "plan" in given["approve"] else ()), *wanted.approve)
    options = planned(wanted, given["repos"], cwd=place.cwd, environ=place.environ)
    home = open_place(str(options.cwd), flags={"telemetry.log_format": given["log_format"]})
    for row in cast("list[dict[str, str]]", options.bound[REPOSITORIES]):
        ensure_trust(open_place(row["path"], trusting=given["trust"]), given=given["trust"])
    options = replace(options, approve=approve)
    if given["detach"]:
        return enqueue(options, place=home, form=form, priority=given["priority"])

    def begin(watch: Watch) -> RunResult:
        return start(options, settings=home.settings, environ=home.environ, watch=watch)

    return follow(begin, place=home, form=form, show=lambda result: drive_parts(result, place=home, form=form))


def drive_parts(result: RunResult, *, place: Place, form: Form) -> int:
    """Show how a plan stands, and drive the tasks that it became.

    Returns:
        The first exit code that is not 0.
    """
    if result.state.progress.outcome != "analyzed":
        return show_result(result, place=place, form=form)
    if form == "text":
        show_result(result, place=place, form=form)
    left = [part for part in parts_of(result.state) if part.row.outcome not in _OVER]
    driven = {part.name: _driven(part, form=form) for part in left}
    if form != "text":
        write_json(result_line(_value(result, driven), form=form), form=form)
    return next((code for code, _ in driven.values() if code), 0)


def _value(result: RunResult, driven: Mapping[str, tuple[int, AgentForgeError | None]]) -> dict[str, object]:
    """The result of the plan; a part that was broken off says why."""
    value = result_value(result)
    for row in cast("list[dict[str, object]]", value["parts"]):
        _, error = driven.get(str(row["part"]), (0, None))
        row["error"] = {"slug": error.slug, "message": error.message, "hint": error.hint} if error else None
    return value


def _driven(part: SplitPart, *, form: Form) -> tuple[int, AgentForgeError | None]:
    """Drive one part; an error in one does not keep the others."""
    errors: list[AgentForgeError] = []

    def show(result: RunResult) -> int:
        errors.extend([result.error] if result.error else [])
        return show_result(result, place=place, form=form) if form == "text" else exit_code(result)

    if form == "text":
        click.echo(f"-- {printable(label_of(part))}: {part.task_id}")
    try:
        place = ensure_trust(open_place(str(part.path)), given=False)
        code = follow(
            lambda watch: tasks.resume(
                part.path, part.task_id, settings=place.settings, environ=place.environ, watch=watch
            ),
            place=place,
            form=form,
            show=show,
        )
    except AgentForgeError as exc:
        click.echo(f"error[{exc.slug}]: {label_of(part)}: {exc}", err=True)
        return exc.exit_code, exc
    return code, errors[0] if errors else None
