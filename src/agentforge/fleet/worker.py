"""A worker: takes tasks from the queue, drives each in a process of its own, and looks after those whose worker died."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from agentforge.app.tasks.dependents import QUEUED
from agentforge.config.paths import data_dir
from agentforge.errors import InfrastructureError, StorageError
from agentforge.fleet.database import Database, unreachable
from agentforge.fleet.holders import end_frozen_holders
from agentforge.fleet.ledger import Job, Ledger
from agentforge.fleet.parts import queue_parts
from agentforge.fleet.rescue import Frozen, Unheard, Waiting, ask_human, kill_holder, send_again, was_taken
from agentforge.fleet.schedules import Schedules
from agentforge.fleet.standing import After, after_drive, after_loss, without_room
from agentforge.frozen import dataclass
from agentforge.installation import command_for

if TYPE_CHECKING:
    from agentforge.config.settings import Settings

QUEUE = "fleet"
WORKFLOW = "drive"
VERSION = "1"
"""What DBOS calls the version of the application: fixed, so that workers of two releases share a queue."""

_AHEAD = 50
_HANDED_BACK = 75
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
    """

    database: Database
    environ: Mapping[str, str]
    plan: Plan
    tell: Callable[[str], None]
    name: str = field(default_factory=lambda: f"{os.uname().nodename}-{os.getpid()}-{uuid.uuid4().hex[:6]}")
    _children: dict[str, tuple[int, subprocess.Popen[bytes]]] = field(default_factory=dict)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: Waiting = field(init=False)
    _frozen: Frozen = field(init=False)
    _unheard: Unheard = field(init=False)
    _holders: Frozen = field(init=False)
    _workflow: Any = None

    def __post_init__(self) -> None:
        self._waiting = Waiting(self.ledger, self.environ)
        self._frozen = Frozen(patience_s=self.plan.lease_s)
        self._unheard = Unheard(lease_s=self.plan.lease_s)
        self._holders = Frozen(patience_s=self.plan.lease_s)

    @property
    def ledger(self) -> Ledger:
        """The table of jobs."""
        return Ledger(self.database)

    def work(self) -> int:
        """Work until told to stop.

        Returns:
            0.
        Side effects: signal handlers; processes; everything that the tasks do.
        """
        self._patiently(lambda: self.ledger.beat(self.name))  # whether the database takes changes
        dbos = self._launch()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        beats = threading.Thread(target=self._beat, daemon=True)
        beats.start()
        self.tell(f"worker {self.name} works on {self.database.shown}")
        try:
            while not self._stopping.is_set():
                if self._looked_around(dbos) and self.plan.until_empty and not self._anything_left():
                    break
                self._stopping.wait(self.plan.period_s)
        finally:
            self._stopping.set()
            self._hand_back()
            dbos.destroy(workflow_completion_timeout_sec=5)
        self.tell(f"worker {self.name} stopped")
        return 0

    def drive(self, job_id: str, attempt: int) -> str:
        """What a workflow does: drive one run until it ends or waits.

        Returns:
            How that went, in a word.
        """
        job = self._patiently(lambda: self.ledger.begin(job_id, attempt, worker=self.name))
        if job is None:
            return "superseded"
        if self._stopping.is_set():
            self.ledger.end(job, "queued", crashes=job.crashes, note="handed back")
            return "handed back"
        full = without_room(job, data_dir(self.environ))
        if full is not None:
            self.tell(f"{job.label}: {full.note}")
            self._patiently(lambda: self._end(job, full))
            return "no room"
        self.tell(f"{job.label}: attempt {job.attempt}")
        code, said = self._drive(job)
        self._patiently(lambda: queue_parts(self.ledger, job))
        after = after_drive(job, code, said, handed_back=code == _HANDED_BACK, crashes_allowed=self.plan.crashes)
        kept = self._patiently(lambda: self._end(job, after))
        self.tell(f"{job.label}: {after.note}" if kept else f"{job.label}: another worker has taken it over")
        self._asked(job, after, kept=kept)
        return after.status if kept else "superseded"

    # -- below: DBOS

    def _launch(self) -> Any:
        try:
            from dbos import DBOS, DBOSConfig
            from sqlalchemy.exc import DBAPIError
        except ImportError as exc:
            raise InfrastructureError("a worker needs the extra `fleet`", hint=command_for("fleet")) from exc
        config = DBOSConfig(
            name="agentforge",
            system_database_url=self.database.url,
            application_version=VERSION,
            executor_id=self.name,
            log_level="CRITICAL",
        )
        DBOS(config=config)

        def drive_job(job_id: str, attempt: int) -> str:
            return self.drive(job_id, attempt)

        self._workflow = DBOS.workflow(name=WORKFLOW)(drive_job)
        try:
            DBOS.launch()
        except DBAPIError as exc:
            raise unreachable(self.database.shown, exc.orig) from exc
        DBOS.register_queue(
            QUEUE,
            worker_concurrency=self.plan.concurrency,
            global_concurrency=self.plan.everywhere,
            partition_concurrency=self.plan.per_repository or 1_000_000,
            polling_interval_sec=min(1.0, self.plan.period_s),
            on_conflict="always_update",
        )
        return DBOS

    def _send(self, dbos: Any, job: Job) -> None:
        from dbos import SetEnqueueOptions, SetWorkflowID

        with (
            SetWorkflowID(job.send_id),
            SetEnqueueOptions(priority=max(1, job.priority), queue_partition_key=job.repo, app_version=VERSION),
        ):
            dbos.enqueue_workflow(QUEUE, self._workflow, job.id, job.attempt)

    # -- below: one run

    def _drive(self, job: Job) -> tuple[int, str]:
        """Run the driver's process to its end; returns its exit code and the end of what it said."""
        import tempfile

        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(
                [sys.executable, "-m", "agentforge.fleet.drive", job.repo, job.task_id, str(os.getpid())],
                env={**self.environ, QUEUED: "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
            with self._lock:
                self._children[job.id] = (job.attempt, child)
            try:
                code = child.wait()
            finally:
                with self._lock:
                    self._children.pop(job.id, None)
            errors.seek(0)
            return code, errors.read()[-2000:].decode("utf-8", "replace").strip()

    def _end(self, job: Job, after: After) -> bool:
        return self.ledger.end(job, after.status, note=after.note, crashes=after.crashes, delay_s=after.delay_s)

    def _asked(self, job: Job, after: After, *, kept: bool = True) -> None:
        """A task that is set aside asks a human."""
        if kept and after.status == "quarantined":
            ask_human(job, after.note, times=after.crashes, environ=self.environ, tell=self.tell)

    # -- below: looking around

    def _looked_around(self, dbos: Any) -> bool:
        """Send what may be driven, take over from the dead, bring back what waited; a database that is away is waited for."""
        try:
            Schedules(self.database).start_due(self.environ, tell=self.tell)
            self._take_over(dbos)
            for job in self._waiting.ready(at_once=self.plan.until_empty):
                self.ledger.end(job, "queued", note="goes on", since=job.status)
            for job in self.ledger.ready(ahead=_AHEAD):
                sent = self.ledger.send(job)
                if sent is not None:
                    self._send(dbos, sent)
            self._stop_what_was_set_aside()
            self._end_what_stands_still()
        except StorageError as exc:
            self._told_of(exc)
            self._unheard.begin_again()
            return False
        return True

    def _take_over(self, dbos: Any) -> None:
        """Tasks of workers that were not heard of: the process that may still hold the run is ended first."""
        for job in self._unheard.among(self.ledger.out()):
            if job.status == "sent":
                if send_again(dbos, job):
                    self._send(dbos, job)
                elif was_taken(dbos, job) and self.ledger.end(job, "queued", crashes=job.crashes, since="sent"):
                    dbos.cancel_workflow(job.send_id)  # whoever took it and never began is refused if it wakes up
                continue
            kill_holder(job.folder)
            after = after_loss(job, job.crashes + 1, crashes_allowed=self.plan.crashes)
            if self.ledger.take_back(job, after.status, note=after.note, crashes=after.crashes):
                self.tell(f"{job.label}: taken over from {job.worker}")
                self._asked(job, after)
                dbos.cancel_workflow(job.send_id)

    def _stop_what_was_set_aside(self) -> None:
        """Stop driving what was paused, cancelled or taken over by somebody else."""
        mine = self.ledger.driven_by(self.name)
        with self._lock:
            for job_id, (attempt, child) in self._children.items():
                if (job_id, attempt) not in mine:
                    child.send_signal(signal.SIGTERM)

    def _end_what_stands_still(self) -> None:
        """A run whose process was frozen is lost to it, as a worker's runs are."""
        with self._lock:
            children = {child.pid: child for _, child in self._children.values()}
        for pid in self._frozen.among(children):
            children[pid].kill()

    def _anything_left(self) -> bool:
        counts = self.ledger.counts()
        return any(counts.get(status) for status in ("queued", "sent", "running"))

    def _beat(self) -> None:
        while not self._stopping.wait(self.plan.lease_s / 5) or self._children:
            try:
                self.ledger.beat(self.name)
            except StorageError:
                continue  # said by the main loop

    def _patiently(self, act: Callable[[], Any]) -> Any:
        """Do something in the database, however long that is away: the work must not be lost."""
        while True:
            try:
                return act()
            except StorageError as exc:
                self._told_of(exc)
                time.sleep(self.plan.period_s)

    def _told_of(self, error: StorageError) -> None:
        """The database does not answer: say so, and end who keeps it from everybody."""
        self.tell(f"{error.message}; trying again")
        if self.database.file is not None:
            end_frozen_holders(self.database.file, self._holders, tell=self.tell)

    # -- below: stopping

    def _stop(self, _number: int, _frame: object) -> None:
        if self._stopping.is_set():  # the second time it is meant at once
            for _, child in self._children.values():
                child.kill()
        self._stopping.set()

    def _hand_back(self) -> None:
        """Let every run finish its step."""
        with self._lock:
            children = [child for _, child in self._children.values()]
        for child in children:
            child.send_signal(signal.SIGTERM)
        for child in children:
            while child.poll() is None:
                time.sleep(_NAP_S)
        while self._children:
            time.sleep(_NAP_S)
