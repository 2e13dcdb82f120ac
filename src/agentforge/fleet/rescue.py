"""Runs whose worker is gone, runs that were set aside, and runs that waited: what has to happen before they go on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from agentforge.app.tasks.dependents import is_ready, sleepers
from agentforge.app.tasks.quarantine import ask_about, question_about
from agentforge.config.settings import load
from agentforge.errors import AgentForgeError
from agentforge.fleet.ledger import Job, Ledger
from agentforge.store.log.lease import read_holder
from agentforge.store.tasks.folders import task_row

_MANY = 100_000
_REST = 20
"""Looking at what waits takes at most one part in so many of a worker's time."""


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


def ask_human(job: Job, why: str, *, times: int, environ: Mapping[str, str], tell: Callable[[str], None]) -> None:
    """Ask in the log of a quarantined run how it should go on; a run that cannot even be opened is only told about."""
    try:
        asks = ask_about(job.folder, why, times=times, settings=load(Path(job.repo), environ), environ=environ)
    except AgentForgeError as exc:
        tell(f"{job.label}: is quarantined, and cannot ask: {exc.message}")
        return
    tell(f"{job.label}: is quarantined" + (" and asks: agentforge escalations list" if asks else ""))


class Unheard:
    """Jobs whose worker says nothing more. What counts is how long its last word stayed the same, so no clocks need agree.

    Args:
        lease_s: how long a worker may be silent.
        clock: seconds, monotonic.
    """

    def __init__(self, *, lease_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._lease_s = lease_s
        self._clock = clock
        self._since: dict[tuple[str, int, str, float], float] = {}

    def among(self, jobs: Collection[Job]) -> list[Job]:
        """Those of all jobs that are out which were not heard of for too long."""
        now = self._clock()
        words = {job.id: (job.id, job.attempt, job.status, job.beat) for job in jobs}
        self._since = {word: self._since.get(word, now) for word in words.values()}
        return [job for job in jobs if now - self._since[words[job.id]] > self._lease_s]

    def begin_again(self) -> None:
        """Nobody could be heard for a while: everybody has the whole time again."""
        self._since.clear()


class Frozen:
    """Processes that were stopped (SIGSTOP) and not let go on.

    Args:
        patience_s: how long one may stand still.
        clock: seconds, monotonic.
    """

    def __init__(self, *, patience_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._patience_s = patience_s
        self._clock = clock
        self._since: dict[int, float] = {}

    def among(self, pids: Collection[int]) -> list[int]:
        """Those of some processes that have stood still for too long."""
        now = self._clock()
        self._since = {pid: self._since.get(pid, now) for pid in pids if _is_stopped(pid)}
        return [pid for pid, since in self._since.items() if now - since > self._patience_s]


def _is_stopped(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] in (b"T", b"t")


class Waiting:
    """Jobs that wait: looked at again and again, and the more there are the less often.

    Args:
        ask: asks a human about a job that was set aside by a worker that died before it could.
    """

    def __init__(self, ledger: Ledger, environ: Mapping[str, str], *, ask: Callable[[Job], None]) -> None:
        self._ask = ask
        self._ledger = ledger
        self._environ = environ
        self._not_before = 0.0

    def ready(self, *, at_once: bool = False) -> list[Job]:
        """Those whose answer is there, or whose task or contract has arrived.

        Args:
            at_once: look now, however long the last look took.
        """
        began = time.monotonic()
        if began < self._not_before and not at_once:
            return []
        found = [*parked_and_ready(self._ledger, self._environ), *self._answered()]
        self._not_before = time.monotonic() + _REST * (time.monotonic() - began)
        return found

    def _answered(self) -> Iterator[Job]:
        """Quarantined jobs about which a human has answered."""
        for job in self._ledger.jobs(statuses=("quarantined",), limit=_MANY):
            with suppress(AgentForgeError):  # damaged: it stays where it is, `status` says why
                standing = question_about(job.folder)
                if standing == "answered":
                    yield job
                elif standing == "none":
                    self._ask(job)


def parked_and_ready(ledger: Ledger, environ: Mapping[str, str]) -> Iterator[Job]:
    """Jobs that waited for an answer that is there, or for another task that has arrived."""
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
