"""Real workers over a real queue in a time of our own: databases that lose answers, workers that die, freeze and have clocks of
their own. One seed is one course of events; nothing waits, and nothing depends on how fast this machine is.

Everything that decides (Worker, Ledger, the statements, the database) is the program's; what is played is time, the processes that
drive runs, and what fails.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

from agentforge.errors import StorageError
from agentforge.fleet.database import Database
from agentforge.fleet.disposition import After, after_drive_failed
from agentforge.fleet.ledger import Job, Ledger
from agentforge.fleet.rates import Bucket
from agentforge.fleet.worker import Plan, Worker
from tests.support.fleet.histories import LOST, Operation

_LOCKED = 8
_HANDED_BACK = 75


@dataclass(kw_only=True)
class Faults:
    """What may go wrong, as chances for each change of the database or for each second.

    Attributes:
        until: nothing goes wrong after this moment.
        lost_answer: the change is made, and whoever made it hears of an error.
        refused: the change is not made.
        lost_change: the change is said to be made and is gone, as after a failover of a server.
        killed: a worker dies at a change (before or after it).
        frozen: a worker stands still for longer than its lease at a change.
        away: the database goes away for a while.
        drift: a worker's clock runs faster or slower by up to this part.
        clock_jumps: the database's clock is set to another hour.
    """

    until: float = 300.0
    lost_answer: float = 0.0
    refused: float = 0.0
    lost_change: float = 0.0
    killed: float = 0.0
    frozen: float = 0.0
    away: float = 0.0
    drift: float = 0.0
    clock_jumps: float = 0.0


@dataclass
class Run:
    """A run, as far as the queue is concerned: one process drives it, and what was done of it stays done."""

    left: int
    holder: object | None = None
    killed: set[object] = field(default_factory=set)
    delivered: int = 0


@dataclass
class Process:
    """A worker process, with everything that goes on in it."""

    machine: int
    rate: float
    alive: bool = True
    stopped: bool = False
    frozen_until: float = 0.0


class Clockwork:
    """Time, and what goes on in it: the next thing that is due goes on until it waits."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, int, Any, Process | None]] = []
        self._number = 0
        self._main = getcurrent()

    def spawn(self, act: Callable[[], object], process: Process | None = None, *, after: float = 0.0) -> None:
        """Let something begin; what belongs to a process ends with it."""
        self._push(greenlet(act, parent=self._main), process, after)

    def wait(self, seconds: float, process: Process | None = None) -> None:
        """Go on later."""
        self._push(getcurrent(), process, seconds)
        self._main.switch()

    def run(self, until: float, *, over: Callable[[], bool] = lambda: False) -> None:
        """Let time pass until nothing is due, or it is over."""
        while self._due and self._due[0][0] <= until and not over():
            self.now, _, one, process = heapq.heappop(self._due)
            if process is not None and not process.alive:
                one.throw(GreenletExit)
            else:
                one.switch()

    def end(self) -> None:
        """End everything that still waits."""
        for _, _, one, _ in self._due:
            one.throw(GreenletExit)
        self._due.clear()

    def _push(self, one: Any, process: Process | None, seconds: float) -> None:
        self._number += 1
        heapq.heappush(self._due, (self.now + max(0.0, seconds), self._number, one, process))


class Server:
    """The database as all see it: it answers after a while, or does not.

    Args:
        real: where everything is kept.
        cost_s: how long one change keeps it busy; changes come one after the other.
    """

    def __init__(
        self, clockwork: Clockwork, real: Database, chance: random.Random, faults: Faults, *, cost_s: float
    ) -> None:
        self.clockwork = clockwork
        self.real = real
        self.chance = chance
        self.faults = faults
        self.changes = 0
        self.offset = 0.0
        self.away_until = 0.0
        self.waited_s = 0.0
        self._cost_s = cost_s
        self._free_at = 0.0

    def happens(self, chance: float) -> bool:
        """Whether something that has this chance happens now."""
        return self.clockwork.now < self.faults.until and self.chance.random() < chance

    def wait_for_turn(self, process: Process) -> None:
        """Wait until the database has time, and its answer has come."""
        clockwork = self.clockwork
        clockwork.wait(max(0.0, process.frozen_until - clockwork.now) + self.chance.uniform(0.0, 0.002), process)
        self._free_at = max(self._free_at, clockwork.now) + self._cost_s
        self.waited_s += self._free_at - clockwork.now
        clockwork.wait(self._free_at - clockwork.now, process)
        self.changes += 1


class Connection:
    """The database as one worker sees it: what `Ledger` and `Worker` take for a Database."""

    file = None
    shown = "the database of a simulation"
    now = "(SELECT at FROM simulated_clock)"

    def __init__(self, server: Server, process: Process) -> None:
        self._server = server
        self._process = process
        self.made = False

    @contextmanager
    def change(self) -> Iterator[Any]:
        """A transaction, with what can befall one."""
        server, faults, process = self._server, self._server.faults, self._process
        self.made = False
        if server.happens(faults.frozen):
            process.frozen_until = server.clockwork.now + server.chance.uniform(5.0, 60.0)
        server.wait_for_turn(process)
        self._fall(faults.killed / 2)
        if server.happens(faults.away):
            server.away_until = server.clockwork.now + server.chance.uniform(1.0, 30.0)
        if server.happens(faults.clock_jumps):
            server.offset = server.chance.choice((-3600.0, 0.0, 3600.0, 86400.0))
        if server.clockwork.now < server.away_until or server.happens(faults.refused):
            raise StorageError("the database does not answer")
        lost = server.happens(faults.lost_change)
        try:
            with server.real.change() as connection:
                moment = server.clockwork.now + server.offset + 1e9
                connection.exec_driver_sql(f"UPDATE simulated_clock SET at = {moment:.6f}")
                yield connection
                if lost:
                    raise _Gone
            self.made = True
        except _Gone:
            pass
        self._fall(faults.killed / 2)
        if server.happens(faults.lost_answer):
            raise StorageError("the connection broke before the answer came")

    def _fall(self, chance: float) -> None:
        if self._server.happens(chance):
            self._process.alive = False
            raise GreenletExit


class _Gone(Exception):
    """A change that was made is taken back, and nobody is told."""


class PlayedMachine:
    """A machine whose processes are played: one run takes steps of some seconds."""

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process

    def room(self, job: Job) -> After | None:
        """There is always room."""
        return None

    def drive(self, job: Job) -> tuple[int, str]:
        """Take the steps that are left; who holds the run keeps others out, and what was done stays done."""
        world, run, me = self._world, self._world.runs[job.task_id], object()
        if run.holder is not None:
            return _LOCKED, "the run is driven by another process"
        run.holder = me
        try:
            while run.left:
                world.wait_for_provider(self._process)
                world.clockwork.wait(world.chance.expovariate(1 / world.step_s), self._process)
                if me in run.killed:
                    return -9, ""
                run.left -= 1
                if self._process.stopped:
                    return _HANDED_BACK, ""
                if not run.left:
                    run.delivered += 1
            return 0, ""
        finally:
            if run.holder is me:
                run.holder = None

    def after(self, job: Job, code: int, said: str, *, crashes_allowed: int) -> After:
        """As the program judges, by a run that is played."""
        if not self._world.runs[job.task_id].left:
            return After(status="done", note="delivered")
        if code == _HANDED_BACK:
            return After(status="queued", note="handed back", crashes=job.crashes)
        if code == _LOCKED:
            return After(status="queued", note=said, crashes=job.crashes, delay_s=2.0)
        return after_drive_failed(job, said, crashes_allowed=crashes_allowed)

    def queue_parts(self, ledger: Ledger, job: Job) -> None:
        """No run is a plan."""

    def ready(self, *, at_once: bool) -> list[Job]:
        """Nothing waits for people."""
        return []

    def end_holder(self, job: Job) -> None:
        """Only who stands on the same machine can be ended."""
        run = self._world.runs[job.task_id]
        if run.holder is not None and self._world.driven_on.get(job.task_id) == self._process.machine:
            run.killed.add(run.holder)
            run.holder = None

    def ask(self, job: Job, why: str, *, times: int) -> None:
        """Nobody is there who could be asked."""

    def start_due(self) -> None:
        """There are no schedules."""

    def keep_only(self, mine: Collection[tuple[str, int]]) -> None:
        """What is driven goes on; its end is refused where it was taken away."""

    def stop(self, *, at_once: bool) -> None:
        """Stop after the step that is under way."""
        self._process.stopped = True

    def close(self) -> None:
        """There is nothing to let go of."""


class Recorder(Ledger):
    """A ledger that remembers what was asked of it and answered.

    What was certainly not made is no part of a history; what was made and not answered is, by what the transaction did.
    """

    def __init__(self, database: Any, world: World, worker: str) -> None:
        super().__init__(database)
        self._world = world
        self._worker = worker
        self._given: list[Job] = []

    def claim(self, worker: str, **given: Any) -> list[Job]:
        """Remember who was given which attempt of what."""
        called, self._given = self._world.clockwork.now, []
        try:
            found = super().claim(worker, **given)
        except BaseException:
            if self._database.made:
                for job in self._given:
                    self._keep(job, "claim", "", called, None)
            raise
        for job in found:
            self._keep(job, "claim", "", called, True)
            self._world.claimed.append((job.id, job.attempt, worker))
        return found

    def end(self, job: Job, status: str, **given: Any) -> bool:
        """Remember how a job was let go of."""
        return self._kept(job, "end", status, lambda: super(Recorder, self).end(job, status, **given))

    def take_back(self, job: Job, status: str, **given: Any) -> bool:
        """Remember what was taken from whom."""
        return self._kept(job, "take_back", status, lambda: super(Recorder, self).take_back(job, status, **given))

    def _given_to(self, worker: str, job: Job, connection: Any) -> Job:
        found = super()._given_to(worker, job, connection)
        self._given.append(found)
        self._world.watch_bounds(connection)
        return found

    def _kept(self, job: Job, name: str, status: str, act: Callable[[], bool]) -> bool:
        called, result = self._world.clockwork.now, None
        try:
            result = act()
            return result
        finally:
            if result is not None or self._database.made:
                self._keep(job, name, status, called, result)

    def _keep(self, job: Job, name: str, to: str, called: float, result: bool | None) -> None:
        answered = LOST if result is None else self._world.clockwork.now
        made = Operation(name, self._worker, job.attempt, to, called, answered, result)
        self._world.history[job.id].append(made)


class World:
    """Machines with workers, and a queue of runs.

    Args:
        database: an empty one.
        steps: of a run, at least and at most; each asks the provider once.
        per_minute: requests that all may send to the provider, 0 = any number.
        kind: the ledger that workers use, `Recorder` or one with a fault of its own.
    """

    def __init__(
        self,
        seed: int,
        database: Database,
        *,
        faults: Faults,
        jobs: int = 8,
        repositories: int = 2,
        machines: int = 2,
        workers: int = 3,
        plan: Plan | None = None,
        step_s: float = 2.0,
        steps: tuple[int, int] = (1, 12),
        cost_s: float = 0.002,
        per_minute: float = 0.0,
        kind: type[Recorder] = Recorder,
    ) -> None:
        self.clockwork = Clockwork()
        self.chance = random.Random(seed)
        self.faults = faults
        self.step_s = step_s
        self.plan = plan or Plan(concurrency=2, lease_s=10.0, crashes=1000, everywhere=4, per_repository=3)
        self.server = Server(self.clockwork, database, self.chance, faults, cost_s=cost_s)
        self.runs: dict[str, Run] = {}
        self.driven_on: dict[str, int] = {}
        self.claimed: list[tuple[str, int, str]] = []
        self.said: list[str] = []
        self.over_bounds: list[str] = []
        self.requests: list[float] = []
        self._per_minute = per_minute
        self._machines = machines
        self._kind = kind
        self._made = 0
        self.ledger = Ledger(database)
        with database.change() as connection:
            connection.exec_driver_sql("CREATE TABLE simulated_clock (at DOUBLE PRECISION)")
            connection.exec_driver_sql("INSERT INTO simulated_clock VALUES (0)")
        self.history: dict[str, list[Operation]] = {}
        for number in range(jobs):
            task = f"task-{number}"
            self.runs[task] = Run(left=self.chance.randint(*steps))
            self.history[self.ledger.add(Path(f"/repo-{number % repositories}"), task).id] = []
        for _ in range(workers):
            self._start_worker()

    def play(self, until: float) -> None:
        """Let time pass until all is done, or that moment has come."""
        self.clockwork.run(until, over=self.all_done)
        self.clockwork.end()

    def wait_for_provider(self, process: Process) -> None:
        """Ask for the right to send one request, as every run does, and send it."""
        if self._per_minute:
            bucket = Bucket(Connection(self.server, process), "provider", per_minute=self._per_minute)  # type: ignore[arg-type]
            bucket.take(sleep=lambda seconds: self.clockwork.wait(seconds / process.rate, process))
        self.requests.append(self.clockwork.now)

    def all_done(self) -> bool:
        """Whether the ledger says so."""
        return self.ledger.counts() == {"done": len(self.runs)}

    def problems(self) -> list[str]:
        """Where the ledger and the runs do not agree, or something was done twice or never."""
        found = [f"{name} was delivered {run.delivered} times" for name, run in self.runs.items() if run.delivered != 1]
        found += self.over_bounds
        attempts = {(job_id, attempt) for job_id, attempt, _ in self.claimed}
        if len({*self.claimed}) != len(attempts):
            found.append("one attempt was given to two workers")
        for job in self.ledger.jobs(limit=10**6):
            if job.status != "done":
                found.append(f"{job.task_id} is {job.status} by {job.worker!r}, attempt {job.attempt}: {job.note}")
        return found

    def watch_bounds(self, connection: Any) -> None:
        """Remember when more is driven at once than the plan allows."""
        rows = connection.exec_driver_sql(
            "SELECT repo, count(*) FROM agentforge_queue WHERE status = 'running' GROUP BY repo"
        )
        counts = [count for _, count in rows]
        if (self.plan.everywhere or LOST) < sum(counts) or (self.plan.per_repository or LOST) < max(counts):
            self.over_bounds.append(f"{counts} at once")

    def _start_worker(self, *, after: float = 0.0) -> None:
        self._made += 1
        drift = self.chance.uniform(-self.faults.drift, self.faults.drift)
        process = Process(machine=self._made % self._machines, rate=1.0 + drift)
        offset = self.chance.uniform(0.0, 1e6)
        name, connection = f"w{self._made}", Connection(self.server, process)
        worker = Worker(
            database=connection,  # type: ignore[arg-type]
            environ={}, plan=self.plan, tell=self.said.append, name=name, machine=PlayedMachine(self, process),
            clock=lambda: offset + self.clockwork.now * process.rate,
            nap=lambda seconds: self.clockwork.wait(seconds / process.rate, process),
            spawn=lambda act: self.clockwork.spawn(act, process),
        )  # fmt: skip
        worker.ledger = self._kind(connection, self, name)
        self.clockwork.spawn(lambda: self._work(worker, process), process, after=after)
        self.clockwork.spawn(lambda: self._beat(worker, process), process, after=after)
        self.clockwork.spawn(lambda: self._replace(process), after=after)

    def _work(self, worker: Worker, process: Process) -> None:
        while True:
            worker.look_around()
            for job in worker._driving.values():
                self.driven_on[job.task_id] = process.machine
            self.clockwork.wait(self.plan.period_s / process.rate, process)

    def _beat(self, worker: Worker, process: Process) -> None:
        while True:
            self.clockwork.wait(self.plan.lease_s / 5 / process.rate, process)
            worker.beat()

    def _replace(self, process: Process) -> None:
        """Another worker takes the place of one that died; what it drove died with it."""
        while process.alive:
            self.clockwork.wait(1.0)
        self._start_worker(after=self.chance.uniform(0.0, 20.0))
