"""What a worker does on its own machine: the processes that drive runs, the folders of the runs, the questions about them."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from agentforge.app.tasks.dependents import QUEUED
from agentforge.config.paths import data_dir
from agentforge.errors import AgentForgeError
from agentforge.fleet.database import Database
from agentforge.fleet.disposition import After, after_drive, without_room
from agentforge.fleet.forks import Fork, Forks
from agentforge.fleet.ledger import Job, Ledger
from agentforge.fleet.rescue import Frozen, Waiting, ask_human, kill_holder
from agentforge.fleet.schedules import Schedules
from agentforge.store.log.reader import first_record, load_state


def queue_parts(ledger: Ledger, job: Job) -> list[Job]:
    """Put the parts that a plan has become behind it into the queue; done twice it is the same.

    Returns:
        Their jobs; none for a task that is no plan.
    Raises:
        StorageError: the database does not answer.
    """
    if first_record(job.folder).get("workflow") != "split":
        return []
    try:
        parts = load_state(job.folder).relations.parts
    except AgentForgeError:
        return []  # a damaged run: judged and told by whoever looks how its driving ended
    return [
        ledger.add_once(Path(str(row["path"])), str(row["task_id"]), priority=job.priority) for row in parts.values()
    ]


_HANDED_BACK = 75
_NAP_S = 0.05


class Machine(Protocol):
    """What a worker needs of the machine that it stands on."""

    def room(self, job: Job) -> After | None:
        """Where a job goes that cannot be driven here; None when it can."""

    def drive(self, job: Job) -> tuple[int, str]:
        """Drive a run until it ends or waits; returns the exit code and the end of what was said."""

    def after(self, job: Job, code: int, said: str, *, crashes_allowed: int) -> After:
        """Where a job goes whose driving has ended."""

    def queue_parts(self, ledger: Ledger, job: Job) -> None:
        """Put what a job has become into the queue."""

    def ready(self, *, at_once: bool) -> list[Job]:
        """Jobs that waited, and wait no longer."""

    def end_holder(self, job: Job) -> None:
        """End the process on this machine that still drives a job of a worker that is gone."""

    def ask(self, job: Job, why: str, *, times: int) -> None:
        """Ask a human about a job that was set aside."""

    def start_due(self) -> None:
        """Start the tasks whose time has come."""

    def keep_only(self, mine: Collection[tuple[str, int]]) -> None:
        """Have all runs stop that are not among the (id, attempt) given, and end those whose process stands still."""

    def stop(self, *, at_once: bool) -> None:
        """Have all runs stop, after the step that is under way or at once."""

    def close(self) -> None:
        """Let go of everything, once nothing is driven any more."""


class ThisMachine:
    """The machine that this process runs on.

    Args:
        patience_s: how long the process of a run may stand still.
        tell: is given a line about everything that happens.
    """

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        environ: Mapping[str, str],
        *,
        patience_s: float,
        tell: Callable[[str], None],
    ) -> None:
        self._database = database
        self._environ = environ
        self._tell = tell
        self._waiting = Waiting(ledger, environ, ask=lambda job: self.ask(job, job.note, times=job.crashes))
        self._frozen = Frozen(patience_s=patience_s)
        self._forks = Forks({**environ, QUEUED: "1"})
        self._children: dict[str, tuple[int, Fork]] = {}
        self._lock = threading.Lock()

    def room(self, job: Job) -> After | None:
        """Look at the disk, and whether the repository is here."""
        return without_room(job, data_dir(self._environ))

    def drive(self, job: Job) -> tuple[int, str]:
        """Run the driver's process to its end."""
        with tempfile.TemporaryFile() as errors:
            child = self._forks.start([job.repo, job.task_id], errors=errors)
            with self._lock:
                self._children[job.id] = (job.attempt, child)
            try:
                code = child.wait()
            finally:
                with self._lock:
                    self._children.pop(job.id, None)
            errors.seek(0)
            return code, errors.read()[-2000:].decode("utf-8", "replace").strip()

    def after(self, job: Job, code: int, said: str, *, crashes_allowed: int) -> After:
        """Judge by the run's own log, then by how its process ended."""
        return after_drive(job, code, said, handed_back=code == _HANDED_BACK, crashes_allowed=crashes_allowed)

    def queue_parts(self, ledger: Ledger, job: Job) -> None:
        """Put the parts of a plan behind it."""
        queue_parts(ledger, job)

    def ready(self, *, at_once: bool) -> list[Job]:
        """Look into the folders of what waits."""
        return self._waiting.ready(at_once=at_once)

    def end_holder(self, job: Job) -> None:
        """SIGKILL to who holds the run's lease: it may be frozen, and wake up later."""
        kill_holder(job.folder)

    def ask(self, job: Job, why: str, *, times: int) -> None:
        """Ask in the run's log."""
        ask_human(job, why, times=times, environ=self._environ, tell=self._tell)

    def start_due(self) -> None:
        """Start what the schedules name."""
        Schedules(self._database).start_due(self._environ, tell=self._tell)

    def keep_only(self, mine: Collection[tuple[str, int]]) -> None:
        """SIGTERM to what was paused, cancelled or taken over by somebody else; SIGKILL to what was frozen."""
        with self._lock:
            for job_id, (attempt, child) in self._children.items():
                if (job_id, attempt) not in mine:
                    child.send_signal(signal.SIGTERM)
            pids = {self._forks.server_pid, *(child.pid for _, child in self._children.values())} - {0}
        for pid in self._frozen.among(pids):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self, *, at_once: bool) -> None:
        """Tell every process to stop; unless at once, wait until each has ended its step."""
        children = [
            child for _, child in list(self._children.values())
        ]  # no lock: a signal may have come while it is held
        for child in children:
            child.send_signal(signal.SIGKILL if at_once else signal.SIGTERM)
        while not at_once and any(child.returncode is None for child in children):
            time.sleep(_NAP_S)

    def close(self) -> None:
        """End the process that forks."""
        self._forks.close()
