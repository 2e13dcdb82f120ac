"""Where tasks that nobody drives stand in the queue; it is looked at only when there are such tasks."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from agentforge.app.composition.run_result import outcome_of
from agentforge.fleet.places import Line, look_at_line

if TYPE_CHECKING:
    from agentforge.app.composition.run_result import RunResult
    from agentforge.cli.startup.command_context import Place
    from agentforge.fleet.places import Queued
    from agentforge.store.tasks.folders import TaskRow


def line_for(tasks: Iterable[TaskRow], place: Place) -> Line:
    """The queue, as far as it matters to some tasks.

    Side effects: says on standard error that it cannot be read.
    """
    return _line(place, wanted=any(task.outcome == "paused" for task in tasks))


def queued_now(result: RunResult, place: Place) -> Line:
    """The queue, as far as it matters to one run."""

    open_questions = result.state.open_escalations
    return _line(place, wanted=not open_questions and outcome_of(result.state, running=result.running) == "paused")


def state_word(task: TaskRow, line: Line) -> str:
    """How a task stands, in a cell of a table."""
    if task.attempt and task.outcome == "aborted":  # how an attempt ends, the chosen one too: its parent delivers
        return f"attempt {task.attempt}, over"
    queued = _queued(task, line)
    return queued.words if queued is not None else task.outcome


def row_value(task: TaskRow, line: Line) -> dict[str, Any]:
    """A task for programs; `queue` says where it stands in the queue, None = it does not, or is being driven."""
    from dataclasses import asdict

    return {**asdict(task), "queue": queue_value(_queued(task, line))}


def queue_value(queued: Queued | None) -> dict[str, Any] | None:
    """A place in the queue for programs."""
    from dataclasses import asdict

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
