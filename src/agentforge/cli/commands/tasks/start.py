"""`agentforge start`: a request becomes a task, and the task is driven until it ends or waits."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from agentforge.app.composition.run_result import RunResult
from agentforge.app.composition.task_queries import repository
from agentforge.app.tasks.added_stages import names_now
from agentforge.app.tasks.runs import start as start_task
from agentforge.app.tasks.start_options import StartOptions, Watch
from agentforge.cli.commands.history.compare import show_comparison
from agentforge.cli.runs.batch import needed_task, start_in_each, start_once
from agentforge.cli.runs.detachment import enqueue, schedule
from agentforge.cli.runs.follow import follow
from agentforge.cli.runs.trust_prompt import ensure_trust
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.flag import Command, option
from agentforge.cli.startup.form import Form
from agentforge.cli.startup.options import (
    cwd_option,
    form_of,
    form_options,
    limit_options,
    limit_settings,
    limits_of,
    log_option,
    plain,
    trust_option,
)
from agentforge.errors import UsageError
from agentforge.pipeline.stages import ALIASES
from agentforge.store.tasks.folders import find_task

_MAX_REQUEST_BYTES = 1_000_000


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  agentforge start "Add a --json flag to the list command"
  agentforge start "slugify('A  B') must give 'a-b'" --tests tests/test_slug.py
  agentforge start "Split parser.py by noun" --approve spec --approve deliver
  agentforge start - --max-steps 60 --deadline 30m --json < request.txt
  agentforge start "Add rate limiting" --repo api-gateway --repo backend-service
  agentforge start "Show user events in the app" --repo data --repo app --split --approve plan
  agentforge start --from-issue https://github.com/acme/api/issues/7 --pr
  agentforge start --from-issue https://github.com/acme/api/issues/7 --detach
  agentforge start "Make parse() three times faster" --attempts 3
  agentforge start "Show the user events" --after data-layer/task-20261121-user-events:spec
""",
)
@click.argument("request", required=False)
@option("--supervised", "mode", flag_value="supervised", help="Ask for approval after every stage.")
@option("--interactive", "mode", flag_value="interactive", help="Also ask before every change.")
@option(
    "--approve",
    multiple=True,
    metavar="STAGE",
    help="Ask for approval after this stage; repeatable. You may also write design, plan, tests, code or commit.",
)
@option("--model", metavar="PROVIDER/NAME", help="Ask this model, for example openai/gpt-5.5 or custom/NAME.")
@limit_options
@option("--base", metavar="REV", help="Start from this revision instead of HEAD.")
@option("--include-dirty", is_flag=True, help="Start from the files as they are, uncommitted changes included.")
@option("--apply", is_flag=True, help="At the end, merge the branch into your checkout if that is a fast-forward.")
@option("--pr", "pr", is_flag=True, help="At the end, push the branch and open a pull request.")
@option("--tests", multiple=True, metavar="PATH", help="Tests that you wrote; RED takes them as they are. Repeatable.")
@option(
    "--repo",
    "repos",
    multiple=True,
    metavar="NAME",
    help="Work in this repository of `repo list`; repeatable, with one task for each.",
)
@option(
    "--split",
    is_flag=True,
    help="First split the request into parts, over all --repo or in this one. Each part is a task that waits for those it needs.",
)
@option(
    "--after",
    multiple=True,
    metavar="TASK[:STAGE]",
    help="Begin when that task is delivered, or has passed STAGE; repeatable. In another repository: REPOSITORY/TASK.",
)
@option("--from-issue", metavar="FILE|URL", help="Take the request from this issue. AgentForge starts each issue once.")
@option("--detach", is_flag=True, help="Put the task into the queue, for a worker.")
@option(
    "--priority",
    type=click.IntRange(1, 1000),
    default=100,
    help="Priority in the queue: 1 comes first; the default is 100.",
)
@option("--at", metavar="TIME", help="Begin at this time: 2026-11-23T06:00, 18:30, +2h. A worker must run.")
@option(
    "--every", metavar="CRON", help="Begin again and again: five fields of cron, daily or weekly. A worker must run."
)
@option(
    "--attempts",
    type=click.IntRange(1, 16),
    default=1,
    metavar="N",
    help="Make N independent attempts at the implementation, and deliver the best by rules, mutation score and size.",
)
@option(
    "--attempts-from",
    type=click.Choice(("red", "green")),
    default="green",
    help="With red, each attempt also writes its own tests; otherwise all use the same tests.",
)
@trust_option
@log_option
@option("--compare-to", metavar="ID", help="At the end, show the new task beside this one.")
@cwd_option
@form_options
def start(request: str | None, mode: str | None, output_format: Form, as_json: bool, **given: Any) -> int:
    """Turn REQUEST into a verified branch; "-" reads it from standard input.

    The work happens in a worktree of its own. Your checkout, index and branches stay untouched unless --apply is given.
    Exit codes: 0 done, 3 a human is asked, 5 model, 6 limit, 130 interrupted.
    """
    form = form_of(output_format, as_json=as_json)
    if given["from_issue"]:
        if request is not None:
            raise UsageError("a request and --from-issue cannot be used together", hint="leave one of them out")
        return start_once(
            given["from_issue"],
            place=open_place(given["cwd"]),
            form=form,
            start=lambda text: _start(text, given, mode, form),
        )
    return _start(_read_request(request or ""), given, mode, form)


def _start(text: str, given: dict[str, Any], mode: str | None, form: Form) -> int:
    """Start what is asked for: now, later, here, or in several repositories."""
    if given["at"] or given["every"]:
        return schedule(text, place=open_place(given["cwd"]), at=given["at"], every=given["every"], form=form)
    if given["split"]:
        from agentforge.cli.runs.split_request import start_split

        return start_split(text, {**given, "mode": mode}, place=open_place(given["cwd"]), form=form)
    if given["repos"]:
        return start_in_each(
            given["repos"],
            place=open_place(given["cwd"]),
            form=form,
            start_one=lambda folder, branch, show: _start_one(
                text, {**given, "cwd": folder, "base": given["base"] or branch, "mode": mode}, form=form, show=show
            ),
        )
    return _start_one(text, {**given, "mode": mode}, form=form)


def _start_one(
    request: str, given: dict[str, Any], *, form: Form, show: Callable[[RunResult], int] | None = None
) -> int:
    """Start one task in one repository."""
    from agentforge.cli.runs.first_choice import tell_of_grading

    limits = limits_of(given)
    flags = {**limit_settings(limits), "telemetry.log_format": given["log_format"]}
    place = ensure_trust(
        open_place(given["cwd"], flags=flags, trusting=given["trust"], asks=True), given=given["trust"]
    )
    if not given["detach"]:
        from agentforge.cli.runs.first_choice import with_model

        place = with_model(place, given["model"], form=form, again=lambda: open_place(given["cwd"], flags=flags))
    options = options_of(request, given, place)
    if given["detach"]:
        return enqueue(options, place=place, form=form, priority=given["priority"], show=show)
    tell_of_grading(place, options.model)
    begun: list[RunResult] = []

    def begin(watch: Watch) -> RunResult:
        begun.append(start_task(options, settings=place.settings, environ=place.environ, watch=watch))
        return begun[-1]

    other = _known_task(place, given["compare_to"])
    code = follow(begin, place=place, form=form, compare_to=other, show=show)
    if other and begun and form == "text":
        show_comparison(place, other, begun[-1].state.identity.run_id)
    return code


def options_of(request: str, given: dict[str, Any], place: Place) -> StartOptions:
    """What `start` was asked to do, from its flags.

    Raises:
        UsageError: a flag that cannot be read.
    """
    return StartOptions(
        request=request,
        cwd=place.cwd,
        mode=given["mode"] or "autonomous",
        approve=stage_names(given["approve"], _stages_here(place)) if given["approve"] else (),
        model=given["model"],
        limits=plain(limits_of(given)),
        base=given["base"],
        include_dirty=given["include_dirty"],
        apply=given["apply"] or place.settings.flag("deliver.apply"),
        tests=given["tests"],
        after=_after(given["after"], place),
        pull={"wanted": True} if given["pr"] else {},
        candidates=given["attempts"],
        candidates_from=given["attempts_from"],
    )


def _after(words: tuple[str, ...], place: Place) -> tuple[dict[str, object], ...]:
    if not words:
        return ()
    return tuple(needed_task(word, place) for word in words)


def _known_task(place: Place, text: str | None) -> str | None:
    """The id of the task to compare with; it is looked up before anything is started."""
    if text is None:
        return None
    return find_task(repository(place.cwd), text)[0]


def stage_names(words: tuple[str, ...], order: tuple[str, ...]) -> tuple[str, ...]:
    """Turn stages and their aliases into stages, in the order of the pipeline.

    Args:
        order: all stages.
    Raises:
        UsageError: a word that names no stage.
    """
    names = set()
    for word in words:
        name = ALIASES.get(word.lower(), word.lower())
        if name not in order:
            raise UsageError(f"--approve {word}: no such stage", hint="one of " + ", ".join((*order, *ALIASES)))
        names.add(name)
    return tuple(name for name in order if name in names)


def _stages_here(place: Place) -> tuple[str, ...]:
    return names_now(repository(place.cwd), settings=place.settings, environ=place.environ)


def _read_request(request: str) -> str:
    if request != "-":
        text = request
    else:
        data = sys.stdin.buffer.read(_MAX_REQUEST_BYTES + 1)
        if len(data) > _MAX_REQUEST_BYTES:
            raise UsageError(f"the request has more than {_MAX_REQUEST_BYTES} bytes", hint="put the details into files")
        text = data.decode("utf-8", errors="replace")
    if not text.strip():
        raise UsageError("the request is empty", hint='say what should change: agentforge start "..."')
    return text
