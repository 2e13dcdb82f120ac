"""Driving a run from the terminal: watch it, ask the person who sits there, show how it ended.

Asking the person at the terminal what an escalation asks, and reading the decision.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Literal, cast

import click

from agentforge.app.composition.run_result import RunResult, exit_code, result_value
from agentforge.app.history.comparison import compare
from agentforge.app.tasks import answers, runs as tasks
from agentforge.app.tasks.start_options import Watch
from agentforge.cli.output.phrases import pull_lines
from agentforge.cli.output.progress import Screen, screen_for
from agentforge.cli.output.terminal import style_for
from agentforge.cli.runs.detachment import queue_value
from agentforge.cli.startup.command_context import Place
from agentforge.cli.startup.form import Form, result_line, write_json
from agentforge.cli.startup.options import Bound, Duration
from agentforge.errors import EXIT_INTERRUPTED
from agentforge.events.kinds.choices import Choice, choices_of, taken
from agentforge.events.state.run_state import Escalation
from agentforge.fleet import Line
from agentforge.frozen import dataclass

Begin = Callable[["Watch"], "RunResult"]


def follow(
    begin: Begin,
    *,
    place: Place,
    form: Form,
    show: Callable[[RunResult], int] | None = None,
    compare_to: str | None = None,
) -> int:
    """Drive a run until it ends, waits for somebody who is not here, or is interrupted.

    Args:
        begin: starts or resumes the run with the given watcher.
        show: what is done with the result in the end; None = it is printed.
        compare_to: a task whose comparison with this one goes into the closing JSON object.
    Returns:
        The exit code.
    Side effects: prints; prompts when a person sits at the terminal.
    """
    screen = screen_for(form, out=sys.stdout, err=sys.stderr, environ=place.environ)
    try:
        with termination_as_interrupt(), screen:
            result = begin(screen)
            while result.state.people.open_escalations and somebody_is_here(form):
                with screen.paused():
                    limits = settle(result, place=place)
                if limits is None:
                    break
                result = _go_on(result.state.identity.run_id, limits=limits, screen=screen, place=place)
    except (KeyboardInterrupt, click.Abort):
        return _interrupted(screen.run_id, form=form)
    if show is not None:
        return show(result)
    return show_result(result, place=place, form=form, compare_to=compare_to)


def show_result(
    result: RunResult, *, place: Place, form: Form, compare_to: str | None = None, queue: Line | None = None
) -> int:
    """Print how a run stands, for people or for programs.

    Args:
        queue: as it stands, None = the run was driven just now.
    Returns:
        The exit code that belongs to it.
    """
    from agentforge.cli.output.summary import escalation_lines, summary_lines  # not needed before the end

    if form != "text":
        value = result_value(result)
        if compare_to is not None:
            value["comparison"] = compare(place.cwd, compare_to, result.state.identity.run_id)
        value["queue"] = queue_value(queue.of(result.folder)) if queue is not None else None
        write_json(result_line(value, form=form), form=form)
        return exit_code(result)
    style = style_for(sys.stdout, place.environ)
    lines = summary_lines(
        result.state,
        folder=result.folder,
        duration_s=result.duration_s or result.state.progress.active_s,
        style=style,
        error=result.error is None,
        queued=queue.of(result.folder) if queue is not None else None,
    )
    for item in result.state.people.open_escalations:
        lines += escalation_lines(item, task_id=result.state.identity.run_id, style=style)
    if result.pull is not None:
        lines += ["", *pull_lines(result.pull)]
    sys.stdout.write("\n".join(lines) + "\n")
    if result.error is not None:
        sys.stdout.flush()
        sys.stderr.write(f"error[{result.error.slug}]: {result.error}\n")
    return exit_code(result)


def user_name(place: Place) -> str:
    """The name under which a human decision is recorded."""
    return place.environ.get("USER") or place.environ.get("LOGNAME") or "user"


def somebody_is_here(form: Form) -> bool:
    """A person sits at the terminal, and text is what they want."""
    return form == "text" and sys.stdin.isatty() and sys.stdout.isatty()


def settle(result: RunResult, *, place: Place) -> dict[str, int | float | None] | None:
    """Ask everything that is open and record the decisions; None = something was left for later, else raised limits.

    Side effects: prompts on the terminal, records of the run.
    """
    from agentforge.cli.output.summary import escalation_lines

    limits: dict[str, int | float | None] = {}
    task_id = result.state.identity.run_id
    style = style_for(sys.stdout, place.environ)
    for item in result.state.people.open_escalations:
        click.echo("\n".join(escalation_lines(item, task_id=task_id, style=style)))
        reply = ask(item)
        if reply is None:
            return None
        limits.update(reply.limits)  # raised limits answer their question when the task is resumed
        if not reply.limits:
            address = f"{task_id}.{item.escalation_id}"
            answers.resolve(
                place.cwd,
                address,
                decision=reply.decision,
                text=reply.text,
                reopen=reply.reopen,
                by=user_name(place),
                settings=place.settings,
                environ=place.environ,
            )
    return limits


def _go_on(task_id: str, *, limits: dict[str, int | float | None], screen: Screen, place: Place) -> RunResult:
    return tasks.resume(place.cwd, task_id, limits=limits, settings=place.settings, environ=place.environ, watch=screen)


def _interrupted(task_id: str, *, form: Form) -> int:
    """Tell that nothing is lost and how to go on."""
    hint = f"state kept; go on with: agentforge resume {task_id}" if task_id else "nothing was started"
    if form != "text":
        error = {"slug": "interrupted", "message": "interrupted", "hint": hint}
        value = {"task_id": task_id, "outcome": "paused" if task_id else "failed", "error": error}
        write_json(result_line(value, form=form), form=form)
    sys.stderr.write(f"\ninterrupted: {hint}\n")
    return EXIT_INTERRUPTED


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """SIGTERM and SIGHUP end what runs as Ctrl-C does: children killed, state kept."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    wanted = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, interrupt) for number in wanted}
    try:
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)


Decision = Literal["answer", "approve", "reject", "abort"]

_LIMITS: Mapping[str, tuple[str, click.ParamType[object]]] = {
    "max_steps": ("max_steps", Bound(int)),
    "budget_tokens": ("budget_tokens", Bound(int)),
    "budget_usd": ("budget_usd", Bound(float)),
    "deadline": ("deadline_s", Duration()),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a person decided; `limits` only where a limit was raised, `reopen` where an earlier stage is done again."""

    decision: Decision
    text: str = ""
    reopen: str = ""
    limits: Mapping[str, int | float | None] = field(default_factory=dict)


def ask(item: Escalation) -> Reply | None:
    """Ask one question, whose choices stand above it; None = the person leaves it for later.

    Side effects: prompts on the terminal.
    """
    offered = choices_of(item)
    own = ", words of your own" if _of_words(offered) is not None else ""
    while True:
        typed = str(click.prompt(f"A number from 1 to {len(offered)}{own}, or later", default="later")).strip()
        if typed.removeprefix("/") == "later":
            return None
        choice = _meant(typed, offered)
        if choice is not None:
            return _taken(choice, item)
        free = _of_words(offered)
        found = taken(item, decision="answer", text=typed) or free
        if found is not None:
            return Reply(decision=found.decision, text=found.text or typed)
        click.echo("This question does not offer that.")


def _meant(typed: str, offered: Sequence[Choice]) -> Choice | None:
    """The choice of a number or a name."""
    if typed.isdecimal() and 1 <= int(typed) <= len(offered):
        return offered[int(typed) - 1]
    word = typed.removeprefix("/").lower()
    word = {"y": "approve", "yes": "approve", "n": "reject", "no": "reject"}.get(word, word)
    return next((choice for choice in offered if word == choice.label.lower()), None)


def _of_words(offered: Sequence[Choice]) -> Choice | None:
    """The choice that takes whatever is typed as the answer."""
    return next((one for one in offered if one.words and one.decision == "answer" and not one.reopen), None)


def _taken(choice: Choice, item: Escalation) -> Reply | None:
    if choice.limit:
        return _limit(item)
    prompt = "What is wrong" if choice.decision == "reject" else "In your words"
    text = str(click.prompt(prompt)) if choice.words else choice.text
    return Reply(decision=choice.decision, text=text, reopen=choice.reopen)


def _limit(item: Escalation) -> Reply | None:
    name, kind = _LIMITS.get(item.reason.partition(":")[0], ("", click.STRING))
    if not name:
        click.echo("Set it when you resume; the command stands above.")
        return None
    value = click.prompt(f"New {name.removesuffix('_s')}", value_proc=lambda text: kind.convert(text, None, None))
    return Reply(
        decision="answer", text=f"{name} = {value}", limits={name: None if value == "none" else cast("float", value)}
    )
