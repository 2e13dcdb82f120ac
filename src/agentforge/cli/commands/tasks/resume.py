"""`agentforge resume` and `agentforge abort`: going on with a task, or ending it."""

from __future__ import annotations

from typing import Any

import click

from agentforge.app.composition import task_queries as looking
from agentforge.app.composition.run_result import RunResult
from agentforge.app.sync.fetch import fetch_newer
from agentforge.app.tasks import runs as tasks
from agentforge.app.tasks.limit_changes import BUDGET, GivenLimits
from agentforge.app.tasks.stop import abort as end_task
from agentforge.cli.runs.follow import follow, show_result
from agentforge.cli.runs.split_request import drive_parts
from agentforge.cli.runs.trust_prompt import ensure_trust
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.form import Form
from agentforge.cli.startup.options import (
    Bound,
    cwd_option,
    form_of,
    form_options,
    limit_settings,
    limits_of,
    log_option,
    raised_limit_options,
    trust_option,
)
from agentforge.store.log.reader import first_record


@click.command(
    epilog="""\b
Examples:
  agentforge resume task-20261121-slugify
  agentforge resume task-20261121-slugify --budget +5
  agentforge resume task-20261121-slugify --max-steps 300 --budget-usd +5
"""
)
@click.argument("task_id", metavar="ID")
@click.option("--model", metavar="PROVIDER/NAME", help="Continue with this model.")
@click.option(
    "--budget",
    type=Bound(float, increase=True),
    help="Raise whichever limit is exhausted: to a new value, or with +N by that much.",
)
@click.option(
    "--accept-changed-stages",
    "changed_stages",
    is_flag=True,
    help="Continue with the project's stages as they are now.",
)
@raised_limit_options
@trust_option
@log_option
@cwd_option
@form_options
def resume(task_id: str, output_format: Form, as_json: bool, **given: Any) -> int:
    """Continue task ID where it stopped; the start of an id is enough.

    Limits given here replace those of the task; +N raises a limit by N. They also answer its question about an exhausted limit.
    """
    limits = limits_of(given)
    given_budget = {} if given["budget"] is None else {BUDGET: None if given["budget"] == "none" else given["budget"]}
    flags = {**limit_settings(limits), "telemetry.log_format": given["log_format"]}
    place = ensure_trust(
        open_place(given["cwd"], flags=flags, trusting=given["trust"], asks=True), given=given["trust"]
    )
    return drive_on(
        task_id,
        limits={**limits, **given_budget},
        place=place,
        form=form_of(output_format, as_json=as_json),
        model=given["model"],
        changed_stages=given["changed_stages"],
    )


@click.command(
    epilog="""\b
Examples:
  agentforge abort task-20261121-slugify
  agentforge abort task-20261121-slugify --reason "done by hand" --json
"""
)
@click.argument("task_id", metavar="ID")
@click.option("--reason", default="", help="Recorded in the task's log.")
@cwd_option
@form_options
def abort(task_id: str, reason: str, cwd: str | None, output_format: Form, as_json: bool) -> int:
    """End task ID for good; its record stays."""
    place = open_place(cwd)
    result = end_task(place.cwd, task_id, reason=reason, settings=place.settings, environ=place.environ)
    show_result(result, place=place, form=form_of(output_format, as_json=as_json))
    return 0


def drive_on(
    task_id: str,
    *,
    limits: GivenLimits,
    place: Place,
    form: Form,
    model: str | None = None,
    changed_stages: bool = False,
) -> int:
    """Resume a task and follow it.

    Returns:
        The exit code.
    """
    _bring(task_id, place, form=form)
    planned = _finished_plan(task_id, place)
    if planned is not None:
        return drive_parts(planned, place=place, form=form)

    def show(result: RunResult) -> int:
        if not result.state.relations.parts:
            return show_result(result, place=place, form=form)

        return drive_parts(result, place=place, form=form)

    return follow(
        lambda watch: tasks.resume(
            place.cwd,
            task_id,
            limits=limits,
            model=model,
            settings=place.settings,
            environ=place.environ,
            watch=watch,
            changed_stages=changed_stages,
        ),
        place=place,
        form=form,
        show=show,
    )


def _bring(task_id: str, place: Place, *, form: Form) -> None:
    """Fetch a task that is not here, or that went on elsewhere."""
    found = fetch_newer(place.cwd, task_id, settings=place.settings)
    if found is not None and form == "text":
        words = (
            "is brought from the remote"
            if found.outcome == "new"
            else "went on elsewhere; it is here as it stands there"
        )
        click.echo(f"{found.task_id} {words} ({found.records} records)")


def _finished_plan(task_id: str, place: Place) -> RunResult | None:
    """The plan of that name when it is over: what goes on then are its parts."""
    if first_record(looking.task_folder(place.cwd, task_id)).get("workflow") != "split":
        return None
    result = looking.load(place.cwd, task_id)
    return result if result.state.progress.outcome == "analyzed" else None
