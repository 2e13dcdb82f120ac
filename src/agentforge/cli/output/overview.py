"""All repositories at a glance: one line for each, and one for every further task that is under way.

Runs in a listing whose trail cannot be believed: named, with what to do, and the exit code that goes with them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentforge.cli.output.terminal import printable
from agentforge.cli.runs.detachment import row_value
from agentforge.cli.startup.streams import reader_left
from agentforge.errors import EXIT_DONE, IntegrityError, StorageError
from agentforge.events.kinds.dependencies import part_label
from agentforge.fleet import Line
from agentforge.store.log.reader import load_state
from agentforge.store.tasks.folders import TaskRow

if TYPE_CHECKING:
    from agentforge.app.intake.repositories import RepositoryRow


_WORDS = {"running": "IN_PROGRESS", "delivered": "DELIVERED ✓", "analyzed": "ANALYZED ✓"}
_ASKED = {
    "question": "needs clarification",
    "approval": "needs approval",
    "stuck": "is stuck",
    "limit": "a limit is reached",
    "conflict": "needs a decision",
    "in_doubt": "needs a decision",
    "model": "the model cannot be asked",
}
_OVER = ("delivered", "analyzed", "failed", "aborted")
_PERIOD_S = 1.0


def overview_lines(rows: list[RepositoryRow], line: Line | None = None) -> list[str]:
    """The lines of `status --all`.

    Args:
        line: the queue, None = nobody looked.
    """
    width = max((len(row.entry.name) for row in rows), default=0) + 3
    lines = []
    for row in rows:
        label = f"{row.entry.name}:".ljust(width)
        if row.problem:
            lines.append(f"{label}MISSING ({printable(row.problem)})")
            continue
        first = row.foremost
        lines.append(f"{label}{standing_words(first, line) if first else 'no tasks yet'}")
        others = [task for task in row.tasks if task is not first and task.outcome not in _OVER]
        lines += [f"  {task.task_id}: {standing_words(task, line)}" for task in others]
    return lines + _plan_lines(rows, line)


def _plan_lines(rows: list[RepositoryRow], line: Line | None) -> list[str]:
    """A line for every plan of which a part is under way."""
    known = {(row.entry.path, task.task_id): task for row in rows for task in row.tasks}
    lines = []
    for plan in (task for row in rows for task in row.tasks if task.parts):
        told = []
        for part in plan.parts:
            task = known.get((Path(part["path"]), part["task_id"]))
            told.append((f"{part_label(part)} {standing_words(task, line) if task else 'MISSING'}", task))
        if any(task is None or task.outcome not in _OVER for _, task in told):
            lines.append(f"plan {plan.task_id}: {'; '.join(words for words, _ in told)}")
    return lines


def standing_words(task: TaskRow, line: Line | None = None) -> str:
    """How a task stands: `IN_PROGRESS (stage: green, 60%)`, `QUEUED (2 of 7, stage: green, 60%)`."""
    queued = line.of(task.folder) if line is not None and task.outcome == "paused" else None
    if queued is not None:
        word, _, place = queued.words.partition(", ")
        far = [f"stage: {task.stage or 'between two'}, {task.progress}%"] if task.progress else []
        more = ", ".join([*([place] if place else []), *far])
        return word.upper() + (f" ({more})" if more else "")
    word = _WORDS.get(task.outcome, task.outcome.upper())
    if task.outcome == "escalated":
        return f"{word} ({_what_is_asked(task)})"
    if task.outcome == "waiting":
        return f"{word} (for {', '.join(_short(key) for key in task.waits_for)}, {task.progress}%)"
    if task.outcome in ("running", "paused"):
        return f"{word} (stage: {task.stage or 'between two'}, {task.progress}%)"
    return f"{word} ({printable(task.error)})" if task.error else word


def overview_value(rows: list[RepositoryRow], line: Line) -> list[dict[str, object]]:
    """The same for programs."""
    return [
        {
            "name": row.entry.name,
            "path": str(row.entry.path),
            "default_branch": row.entry.default_branch,
            "problem": row.problem,
            "tasks": [row_value(task, line) for task in row.tasks],
        }
        for row in rows
    ]


def watch(text: Callable[[], str]) -> int:
    """Print a text again whenever it changes, until Ctrl-C or until nobody reads it.

    Returns:
        0.
    """
    clears = sys.stdout.isatty()
    shown = ""
    try:
        while not reader_left():
            now = text()
            if now != shown:
                click.echo(("\x1b[2J\x1b[H" if clears else "") + now)
                sys.stdout.flush()
                shown = now
            time.sleep(_PERIOD_S)
    except KeyboardInterrupt:
        return 0
    return 0


def _what_is_asked(task: TaskRow) -> str:
    waiting = load_state(task.folder).people.open_escalations
    return _ASKED.get(waiting[0].kind, waiting[0].kind) if waiting else "answered"


def _short(key: str) -> str:
    """`task:repo:id:stage` and `artifact:repo:name:version` in words."""
    kind, repo, name, rest = [*key.split(":", 3), "", "", ""][:4]
    if kind == "task":
        return f"{repo}/{name}: {rest}" if repo else f"{name}: {rest}"
    return f"{repo}: {name} {rest}".strip()


def tell_damaged(found: Iterable[tuple[str, str, str, str]]) -> int:
    """Name on stderr the tasks of a listing that cannot be read.

    Args:
        found: (task, how it stands, why it cannot be read, the slug of that error) of every task.
    Returns:
        The exit code of the listing: that of IntegrityError when one is damaged, that of StorageError when one can only not be
        opened, else 0.
    """
    damaged = [(task, why, cause) for task, standing, why, cause in found if standing == "damaged"]
    for task, why, cause in damaged:
        sys.stderr.write(f"error[{cause}]: {task}: {printable(why).replace('verify ID', f'verify {task}')}\n")
    causes = {cause for _, _, cause in damaged}
    altered = causes - {StorageError.slug}
    return IntegrityError.exit_code if altered else StorageError.exit_code if causes else EXIT_DONE
