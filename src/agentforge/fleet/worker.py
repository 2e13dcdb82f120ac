"""A worker: takes tasks from the queue, has each driven, and looks after those whose worker died."""

from __future__ import annotations

import dataclasses
import os
import signal
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

from agentforge.config.settings import Settings
from agentforge.errors import StorageError
from agentforge.fleet.database import Database
from agentforge.fleet.disposition import After, after_drive_failed, after_loss
from agentforge.fleet.ledger import Job, Ledger
from agentforge.fleet.machine import Machine, ThisMachine
from agentforge.fleet.rescue import Frozen, Unheard
from agentforge.frozen import dataclass

_LOCKS = Path("/proc/locks")


def end_frozen_holders(file: Path, frozen: Frozen, *, tell: Callable[[str], None]) -> None:
    """End processes of this machine that hold the database and have stood still for too long.

    What one of them had not finished is undone by SQLite; its runs are taken over as those of any worker that is gone.

    Args:
        file: of the database.
        frozen: remembers since when they stand still.
    Side effects: SIGKILL.
    """
    for pid in frozen.among(holders_of(file)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        tell(f"process {pid} held the database of the queue and stood still: it was ended")


def holders_of(file: Path) -> set[int]:
    """Processes with an exclusive lock on an SQLite file, or on the index of its log; none where that cannot be seen.

    The kernel's list is read, since whoever opens and closes the file itself gives up the locks of its own process.
    """
    places = set()
    for path in (file, file.with_name(f"{file.name}-shm")):
        with suppress(FileNotFoundError):
            found = path.stat()
            places.add(f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}")
    try:
        lines = _LOCKS.read_text("ascii").splitlines()
    except OSError:  # not Linux, or hidden
        return set()
    rows = [line.split() for line in lines]
    return {int(row[4]) for row in rows if row[1] == "POSIX" and row[3] == "WRITE" and row[5] in places}


_NAP_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a worker works.

    Attributes:
        concurrency: tasks that this worker drives at once.
        everywhere: tasks that all workers together drive at once, None = no bound.
        per_repository: the same for one repository.
        lease_s: a worker that was not heard of for so long has lost its tasks.
        crashes: a task whose driving ended badly so often in a row is quarantined.
        period_s: how often the worker looks around.
        until_empty: end when nothing is left that could be driven.
    """

    concurrency: int = 1
    everywhere: int | None = None
    per_repository: int | None = None
    lease_s: float = 20.0
    crashes: int = 3
    period_s: float = 1.0
    until_empty: bool = False


def plan_of(settings: Settings, *, concurrency: int | None, until_empty: bool) -> Plan:
    """The plan that the settings under `fleet` and the flags make."""
    table: Mapping[str, Any] = settings.table("fleet")
    default = Plan()
    return Plan(
        concurrency=concurrency or table.get("concurrency", default.concurrency),
        everywhere=table.get("global_concurrency"),
        per_repository=table.get("repository_concurrency"),
        lease_s=table.get("lease_s", default.lease_s),
        crashes=table.get("crashes", default.crashes),
        period_s=table.get("period_s", default.period_s),
        until_empty=until_empty,
    )


@dataclasses.dataclass(slots=True, kw_only=True)
class Worker:
    """One worker process.

    Attributes:
        tell: is given a line about everything that happens.
        name: no other worker has it, or ever had it.
        machine: where it works.
        clock, nap: seconds, monotonic; waiting so many.
        spawn: lets something go on beside the worker.
    """

    database: Database
    environ: Mapping[str, str]
    plan: Plan
    tell: Callable[[str], None]
    name: str = field(default_factory=lambda: f"{os.uname().nodename}-{os.getpid()}-{uuid.uuid4().hex[:6]}")
    machine: Machine = None  # type: ignore[assignment] # set below where none is given
    clock: Callable[[], float] = time.monotonic
    nap: Callable[[float], None] = time.sleep
    spawn: Callable[[Callable[[], object]], None] = lambda act: threading.Thread(target=act, daemon=True).start()
    ledger: Ledger = field(init=False)
    _driving: dict[str, Job] = field(default_factory=dict)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _woken: threading.Event = field(default_factory=threading.Event)
    _unheard: Unheard = field(init=False)
    _holders: Frozen = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.database)
        self._unheard = Unheard(lease_s=self.plan.lease_s, clock=self.clock)
        self._holders = Frozen(patience_s=self.plan.lease_s, clock=self.clock)
        self.machine = self.machine or ThisMachine(
            self.database, self.ledger, self.environ, patience_s=self.plan.lease_s, tell=self.tell
        )

    def work(self) -> int:
        """Work until told to stop.

        Returns:
            0.
        Side effects: signal handlers; processes; everything that the tasks do.
        """
        self._patiently(self.ledger.requeue_sent)  # and whether the database takes changes
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        threading.Thread(target=self._beat, daemon=True).start()
        self.tell(f"worker {self.name} works on {self.database.shown}")
        try:
            while not self._stopping.is_set():
                self._woken.clear()
                if self.look_around() and self.plan.until_empty and not self._anything_left():
                    break
                self._woken.wait(self.plan.period_s)
        finally:
            self._stopping.set()
            while self._driving:
                self.machine.stop(at_once=False)
                self.nap(_NAP_S)
            self.machine.close()
        self.tell(f"worker {self.name} stopped")
        return 0

    def look_around(self) -> bool:
        """Take over from the dead, bring back what waited, claim what may be driven.

        Returns:
            Whether the database answered; one that is away is waited for.
        """
        try:
            self.machine.start_due()
            self._take_over()
            for job in self.machine.ready(at_once=self.plan.until_empty):
                self.ledger.bring_back(job, note="goes on")
            self._claim()
            self.machine.keep_only(self.ledger.driven_by(self.name))
        except StorageError as exc:
            self._told_of(exc)
            self._unheard.begin_again()
            return False
        return True

    def drive(self, job: Job) -> str:
        """Drive one job that was claimed, until its run ends or waits.

        Returns:
            How that went, in a word.
        """
        after = after_drive_failed(job, "its worker met an error", crashes_allowed=self.plan.crashes)
        kept = False
        try:
            after = self._driven(job)
        finally:  # however that ended, the queue has to hear of it: nobody else knows of this job
            try:
                kept = self._patiently(lambda: self.ledger.end(job, after.status, **after.rest))
            finally:
                del self._driving[job.id]
                self._woken.set()
        self.tell(f"{job.label}: {after.note}" if kept else f"{job.label}: another worker has taken it over")
        if kept and after.status == "quarantined":
            self.machine.ask(job, after.note, times=after.crashes)
        return after.status if kept else "superseded"

    def beat(self) -> None:
        """Say that this worker lives, for what it drives."""
        try:
            self.ledger.beat(self.name, list(self._driving))
        except StorageError:
            return  # said by the main loop

    # -- below: one job

    def _driven(self, job: Job) -> After:
        """Have a job driven; where it goes from here."""
        if self._stopping.is_set():
            return After(status="queued", crashes=job.crashes, note="handed back")
        full = self.machine.room(job)
        if full is not None:
            return full
        self.tell(f"{job.label}: attempt {job.attempt}")
        code, said = self.machine.drive(job)
        self._patiently(lambda: self.machine.queue_parts(self.ledger, job))
        return self.machine.after(job, code, said, crashes_allowed=self.plan.crashes)

    # -- below: looking around

    def _take_over(self) -> None:
        """Tasks of workers that were not heard of: the process that may still hold the run is ended first."""
        for job in self._unheard.among(self.ledger.out()):
            if job.id in self._driving:
                continue
            self.machine.end_holder(job)
            after = after_loss(job, job.crashes + 1, crashes_allowed=self.plan.crashes)
            if self.ledger.take_back(job, after.status, note=after.note, crashes=after.crashes):
                self.tell(f"{job.label}: taken over from {job.worker}")
                if after.status == "quarantined":
                    self.machine.ask(job, after.note, times=after.crashes)

    def _claim(self) -> None:
        """Fill what is free with the next jobs."""
        free = self.plan.concurrency - len(self._driving)
        if free <= 0 or self._stopping.is_set():
            return
        bounds = {"everywhere": self.plan.everywhere, "each": self.plan.per_repository}
        for job in self.ledger.claim(self.name, driving=set(self._driving), at_most=free, **bounds):
            self._driving[job.id] = job
            self.spawn(partial(self.drive, job))

    def _anything_left(self) -> bool:
        counts = self.ledger.counts()
        return any(counts.get(status) for status in ("queued", "running"))

    def _beat(self) -> None:
        while not self._stopping.wait(self.plan.lease_s / 5) or self._driving:
            self.beat()

    def _patiently(self, act: Callable[[], Any]) -> Any:
        """Do something in the database, however long that is away: the work must not be lost.

        Raises:
            StorageError: it did not come back for the time of a lease after the worker was told to stop; others see to the rest.
        """
        stopping_since: float | None = None
        while True:
            try:
                return act()
            except StorageError as exc:
                self._told_of(exc)
                if self._stopping.is_set():
                    stopping_since = self.clock() if stopping_since is None else stopping_since
                    if self.clock() - stopping_since > self.plan.lease_s:
                        raise
                self.nap(self.plan.period_s)

    def _told_of(self, error: StorageError) -> None:
        """The database does not answer: say so, and end who keeps it from everybody."""
        self.tell(f"{error.message}; trying again")
        if self.database.file is not None:
            end_frozen_holders(self.database.file, self._holders, tell=self.tell)

    def _stop(self, _number: int, _frame: object) -> None:
        if self._stopping.is_set():  # the second time it is meant at once
            self.machine.stop(at_once=True)
        self._stopping.set()
        self._woken.set()
