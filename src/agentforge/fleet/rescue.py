"""Runs whose worker is gone, and runs that waited: what has to happen before they go on."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentforge.fleet.ledger import Job, Ledger
from agentforge.store.lease import read_holder
from agentforge.store.tasks import task_row

_MANY = 100_000
_HELD = ("ENQUEUED", "PENDING", "DELAYED")


def kill_holder(folder: Path) -> bool:
    """End the process that still holds a run's lease on this machine: it may be frozen, and wake up later.

    Returns:
        Whether there was one.
    """
    holder = read_holder(folder)
    if not holder.alive or holder.pid == os.getpid():
        return False
    with suppress(ProcessLookupError):
        os.kill(holder.pid, signal.SIGKILL)
    return True


def parked_and_ready(ledger: Ledger, environ: Mapping[str, str]) -> Iterator[Job]:
    """Jobs that waited for an answer that is there, or for another task that has arrived."""
    from agentforge.app.waking import is_ready, sleepers

    parked = {job.folder: job for job in ledger.jobs(statuses=("parked",), limit=_MANY)}
    waiting = {}
    if parked:
        waiting = {sleeper.repo / ".agentforge" / "tasks" / sleeper.task_id: sleeper for sleeper in sleepers(environ)}
    for folder, job in parked.items():
        outcome = task_row(folder).outcome
        if outcome == "waiting" and folder in waiting and not is_ready(waiting[folder], environ):
            continue
        if outcome != "escalated":
            yield job


def send_again(dbos: Any, job: Job) -> bool:
    """Whether the queue does not know a job that was marked as sent: the worker died between the two."""
    found = dbos.list_workflows(workflow_ids=[job.send_id], load_input=False, load_output=False)
    return not any(item.status in _HELD for item in found)
