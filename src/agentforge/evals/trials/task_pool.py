"""Plays what an evaluation still misses: one process for each task, some at a time, each row kept as soon as it is there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentforge.canonical import digest_value
from agentforge.errors import UsageError
from agentforge.evals.trials.play import ROW, variant_of
from agentforge.evals.trials.results import Results, append
from agentforge.evals.trials.task import EvalTask

Row = dict[str, Any]

_GRACE_S = 20.0


@dataclass(slots=True)
class Processes:
    """The processes that play, so that an interruption reaches them."""

    running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    stopped: bool = False

    def stop(self) -> None:
        """Interrupt them as Ctrl-C does, and wait for them."""
        self.stopped = True
        for child in list(self.running):
            child.send_signal(signal.SIGINT)
        for child in list(self.running):
            try:
                child.wait(_GRACE_S)
            except subprocess.TimeoutExpired:
                child.kill()


def run_missing(results: Results, tasks: Mapping[str, EvalTask], *, processes: int) -> Iterator[Row]:
    """Play every task that has no row yet; yields each row when it is on the disk.

    An interruption ends the tasks that are playing; they leave no row and are played again by the next call.

    Args:
        processes: tasks at a time, >= 1.
    Side effects: a new folder for each task below the evaluation's.
    """
    playing = Processes()
    todo = list(reversed(results.missing()))
    jobs: dict[Future[Row | None], tuple[str, str]] = {}
    with ThreadPoolExecutor(max_workers=processes) as pool:
        try:
            while todo or jobs:
                while todo and len(jobs) < processes:
                    model, name = todo.pop()
                    jobs[pool.submit(_play, results, tasks[name], model, playing)] = (model, name)
                for job in wait(jobs, return_when=FIRST_COMPLETED).done:
                    del jobs[job]
                    yield from _kept(results, job.result())
        finally:
            playing.stop()


def playable(tasks: Sequence[EvalTask], models: Sequence[str]) -> tuple[EvalTask, ...]:
    """The tasks that have answers for every scripted model among `models`; all when there is none.

    Raises:
        UsageError: no task has them.
    """
    variants = [variant for variant in map(variant_of, models) if variant is not None]
    left = tuple(task for task in tasks if all(variant in task.answers for variant in variants))
    if not left:
        raise UsageError(f"no task has the answers {', '.join(variants)}", hint="name a model: --model PROVIDER/NAME")
    return left


def folder_of(model: str, task: str) -> str:
    """Name the folder of a task within an evaluation."""
    plain = "".join(char if char.isalnum() or char in "-." else "-" for char in model)[-40:]
    return f"{plain}-{digest_value(model)[:6]}/{task}"


def digests_of(tasks: Sequence[EvalTask]) -> dict[str, str]:
    """Name each task by everything in it but the scripted answers."""
    return {task.name: digest_value({**task.value, "answers": None}) for task in tasks}


def _kept(results: Results, row: Row | None) -> Iterator[Row]:
    if row is not None:
        append(results.folder, row)
        yield row


def _play(results: Results, task: EvalTask, model: str, playing: Processes) -> Row | None:
    """One process to its end; None when it was interrupted."""
    home = results.folder.resolve()
    plan = results.plan
    row = play_apart(
        task, model, home / folder_of(model, task.name), playing, limits=plan.limits, settings=plan.settings
    )
    return None if row is None else {**row, "folder": Path(row["folder"]).relative_to(home).as_posix()}


def play_apart(
    task: EvalTask,
    model: str,
    folder: Path,
    playing: Processes,
    *,
    limits: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> Row | None:
    """Play a task in a process of its own, to its end; None when it was interrupted.

    Args:
        folder: of the task; another one beside it is taken where it exists. The row names it.
    Side effects: makes the folder; the repository and the trail stay in it.
    """
    folder = _new_folder(folder)
    order = {
        "task": task.value, "model": model, "folder": str(folder), "limits": dict(limits), "settings": dict(settings),
    }  # fmt: skip
    with (folder / "output.txt").open("wb") as output:
        child = subprocess.Popen(
            [sys.executable, "-m", "agentforge.evals.trials.play"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ,
            start_new_session=True,
        )
        playing.running.add(child)
        try:
            child.communicate(json.dumps(order, default=str).encode())
        finally:
            playing.running.discard(child)
    if playing.stopped:
        return None
    return {**_row(folder, task, model, code=child.returncode), "folder": str(folder)}


def _row(folder: Path, task: EvalTask, model: str, *, code: int) -> Row:
    """The row that the process left; one that broke leaves a failed one that says how it ended."""
    if (folder / ROW).is_file():
        value: Row = json.loads((folder / ROW).read_text("utf-8"))
        return value
    said = (folder / "output.txt").read_text("utf-8", "replace").strip().splitlines()
    return {
        "task": task.name, "model": model, "expected": task.expected, "action": task.action, "examples": task.examples,
        "verdict": "failed", "lost_in": "program", "outcome": "error", "stages": [],
        "why": f"the process ended with {code}: {said[-1] if said else 'it said nothing'}"[:600],
    }  # fmt: skip


def _new_folder(wanted: Path) -> Path:
    """Make the folder of a task; what an interrupted process left keeps its own, for it may still be ending."""
    folder, number = wanted, 1
    while folder.exists():
        number += 1
        folder = wanted.with_name(f"{wanted.name}.{number}")
    folder.mkdir(parents=True)
    return folder
