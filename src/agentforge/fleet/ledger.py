"""What stands in the queue and how far it is. A run's own log stays the only truth about the run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from agentforge.canonical import digest_value
from agentforge.errors import ConflictError, UsageError
from agentforge.fleet.database import Database
from agentforge.frozen import dataclass

LONGEST_DELAY_S = 300.0
"""How long a job is held back at most; who is held back longer met a clock that was set back."""
LIVE = ("queued", "running", "parked", "paused")
"""What is still to come: in line, driven, waiting for an answer or another task, held back."""
_TURN = "INSERT INTO agentforge_flags (name, value) VALUES ('turn', '') ON CONFLICT (name) DO UPDATE SET value = ''"
"""Workers claim one after the other: this row is locked until the claim stands, in a file and on a server alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A task in the queue.

    Attributes:
        status: queued, running, parked, paused, done, cancelled or quarantined.
        attempt: how often a worker took it.
        crashes: how often in a row driving it ended badly.
        worker: who drives it or drove it last.
        beat, not_before, added: seconds of the database's clock.
        note: how it stands, in words.
    """

    id: str
    repo: str
    task_id: str
    priority: int = 100
    status: str = "queued"
    attempt: int = 0
    crashes: int = 0
    worker: str = ""
    beat: float = 0.0
    not_before: float = 0.0
    added: float = 0.0
    note: str = ""

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return Path(self.repo) / ".agentforge" / "tasks" / self.task_id

    @property
    def label(self) -> str:
        """What people call it: the folder of the repository, and the task."""
        return f"{Path(self.repo).name}/{self.task_id}"


class Ledger:
    """The table of jobs, and all that there is to know about who drives what.

    Every change names the state that it expects, so of several workers one succeeds; and every change can be made twice, because
    the answer to the first time may have been lost.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def add(self, repo: Path, task_id: str, *, priority: int = 100) -> Job:
        """Put a task into the queue; one that stands in it already stays as it is, one that left it comes back."""
        job_id = self.add_once(repo, task_id, priority=priority).id
        self._run(
            "UPDATE agentforge_queue SET status = 'queued', crashes = 0, not_before = 0, priority = :priority, note = '' "
            "WHERE id = :id AND status IN ('done', 'cancelled', 'quarantined')",
            {"id": job_id, "priority": priority},
        )
        return self.get(job_id)

    def add_once(self, repo: Path, task_id: str, *, priority: int = 100) -> Job:
        """Put a task into the queue unless it stands or stood there."""
        job_id = digest_value([str(repo), task_id])[:24]
        values = {"id": job_id, "repo": str(repo), "task_id": task_id, "priority": priority}
        self._run(
            f"INSERT INTO agentforge_queue (id, repo, task_id, priority, status, added) "
            f"VALUES (:id, :repo, :task_id, :priority, 'queued', {self._database.now}) ON CONFLICT (id) DO NOTHING",
            values,
        )
        return self.get(job_id)

    def get(self, job_id: str) -> Job:
        """One job.

        Raises:
            UsageError: there is none of that id.
        """
        rows = self._select("WHERE id = :id", {"id": job_id})
        if not rows:
            raise UsageError(f"nothing in the queue is called {job_id!r}", hint="see: agentforge queue list")
        return rows[0]

    def find(self, text: str, *, repo: Path | None = None, here: Path | None = None) -> Job:
        """The job of a task, by its id or the beginning of it.

        Args:
            repo: only tasks of this repository, None = of all.
            here: of several that fit, the one of this repository is meant.
        Raises:
            UsageError: none or several fit.
        """
        pattern = text.replace("!", "!!").replace("%", "!%").replace("_", "!_") + "%"
        rows = self._select(
            "WHERE task_id LIKE :pattern ESCAPE '!' OR id = :text ORDER BY task_id, repo",
            {"pattern": pattern, "text": text},
        )
        rows = [row for row in rows if repo in (None, Path(row.repo))]
        exact = [row for row in rows if text in (row.task_id, row.id)] or rows
        exact = [row for row in exact if here == Path(row.repo)] or exact
        if len(exact) == 1:
            return exact[0]
        if not exact:
            raise UsageError(f"nothing in the queue is called {text!r}", hint="see: agentforge queue list")
        told = ", ".join(f"{row.task_id} in {row.repo} ({row.id})" for row in exact[:5])
        raise UsageError(f"{text!r} fits {len(exact)}: {told}", hint="use REPOSITORY/TASK, or the id in brackets")

    def jobs(self, *, statuses: Sequence[str] = (), limit: int = 100) -> list[Job]:
        """Jobs in the order in which they come.

        Args:
            statuses: () = all.
        """
        where = f"WHERE status IN ({_listed(statuses)})" if statuses else ""
        return self._select(f"{where} ORDER BY priority, added, id LIMIT {int(limit)}", {})

    def counts(self) -> dict[str, int]:
        """How many jobs stand how."""
        with self._database.change() as connection:
            rows = connection.exec_driver_sql("SELECT status, count(*) FROM agentforge_queue GROUP BY status")
            return {str(status): int(count) for status, count in rows}

    def claim(
        self,
        worker: str,
        *,
        driving: Collection[str],
        at_most: int,
        everywhere: int | None = None,
        each: int | None = None,
    ) -> list[Job]:
        """Take jobs for a worker, the first in line first; nothing new while the queue is paused.

        A claim whose answer was lost is found again: what stands under the worker's name without being driven is given first.

        Args:
            worker: a name that no other process has or had.
            driving: ids of the jobs that the worker drives; none of them is given.
            at_most: jobs that the worker can take.
            everywhere: jobs that all workers together may drive, None = no bound.
            each: the same for one repository.
        """
        with self._database.change() as connection:
            connection.exec_driver_sql(_TURN)
            mine = self._rows(connection, "WHERE worker = :worker AND status = 'running'", {"worker": worker})
            taken = [job for job in mine if job.id not in driving][:at_most]
            if self._is_paused(connection):
                return taken
            counted = connection.exec_driver_sql(
                "SELECT repo, count(*) FROM agentforge_queue WHERE status = 'running' GROUP BY repo"
            )
            busy = {str(repo): int(count) for repo, count in counted}
            while len(taken) < at_most and (everywhere is None or sum(busy.values()) < everywhere):
                full = [repo for repo, count in busy.items() if each is not None and count >= each]
                found = self._first_in_line(connection, full, driving)
                if found is None:
                    break
                taken.append(self._given_to(worker, found, connection))
                busy[found.repo] = busy.get(found.repo, 0) + 1
            return taken

    def end(self, job: Job, status: str, *, note: str = "", crashes: int = 0, delay_s: float = 0.0) -> bool:
        """Let go of a job that was claimed. Done twice it is the same: the answer of the first time may have been lost.

        Args:
            job: as `claim` gave it.
        Returns:
            False = another worker has taken it over, or a human has set it aside.
        """
        statement = (
            f"UPDATE agentforge_queue SET status = :status, note = :note, crashes = :crashes, "
            f"not_before = {self._database.now} + :delay "
            "WHERE id = :id AND attempt = :attempt AND worker = :worker AND status = 'running'"
        )
        values = {"id": job.id, "attempt": job.attempt, "worker": job.worker, "status": status, "note": note[:500]}
        with self._database.change() as connection:
            connection.execute(_prepared(statement, values), {**values, "crashes": crashes, "delay": delay_s})
            (row,) = self._rows(connection, "WHERE id = :id", {"id": job.id})
        return (row.attempt, row.worker, row.status) == (job.attempt, job.worker, status)

    def bring_back(self, job: Job, *, note: str) -> bool:
        """Put a job that waited into the line again; False when it does not stand as it did."""
        return self._run(
            "UPDATE agentforge_queue SET status = 'queued', note = :note, crashes = 0, not_before = 0 "
            "WHERE id = :id AND attempt = :attempt AND status = :status",
            {"id": job.id, "attempt": job.attempt, "status": job.status, "note": note},
        )

    def beat(self, worker: str, driving: Collection[str]) -> None:
        """Say that a worker lives, for the jobs that it really drives: what else stands under its name falls silent.

        Args:
            driving: ids of those jobs.
        """
        self._run(
            f"UPDATE agentforge_queue SET beat = {self._database.now} "
            "WHERE worker = :worker AND status = 'running' AND id IN :ids",
            {"worker": worker, "ids": tuple(driving)},
        )

    def take_back(self, job: Job, status: str, *, note: str, crashes: int) -> bool:
        """Take a job from its worker; False when that was heard of meanwhile, or has lost it already."""
        return self._run(
            "UPDATE agentforge_queue SET status = :status, note = :note, crashes = :crashes, not_before = 0, worker = '' "
            "WHERE id = :id AND attempt = :attempt AND status = 'running' AND beat = :beat",
            {
                "id": job.id,
                "attempt": job.attempt,
                "status": status,
                "note": note[:500],
                "crashes": crashes,
                "beat": job.beat,
            },
        )

    def out(self) -> list[Job]:
        """Jobs that are with the workers."""
        return self._select("WHERE status = 'running'", {})

    def requeue_sent(self) -> None:
        """Put back what a worker of a version before 0.2 had sent to the others, who looked for it elsewhere."""
        self._run("UPDATE agentforge_queue SET status = 'queued', attempt = attempt + 1 WHERE status = 'sent'", {})

    def driven_by(self, worker: str) -> set[tuple[str, int]]:
        """What a worker may go on driving: (id, attempt)."""
        rows = self._select("WHERE worker = :worker AND status = 'running'", {"worker": worker})
        return {(row.id, row.attempt) for row in rows}

    # -- what people do

    def paused(self) -> bool:
        """Whether the whole queue is held back."""
        with self._database.change() as connection:
            return self._is_paused(connection)

    def hold(self, *, paused: bool) -> None:
        """Hold the whole queue back, or let it go on; what runs goes on."""
        self._run(
            "INSERT INTO agentforge_flags (name, value) VALUES ('paused', :value) "
            "ON CONFLICT (name) DO UPDATE SET value = :value",
            {"value": "yes" if paused else "no"},
        )

    def set_aside(self, job: Job, status: str) -> None:
        """Pause, release or cancel one job; a worker that drives it stops at the next step.

        Raises:
            ConflictError: it is over already.
        """
        expected = ("paused",) if status == "queued" else LIVE
        if job.status == "quarantined":
            expected = ("quarantined",)
        done = self._run(
            f"UPDATE agentforge_queue SET status = :status, crashes = 0, not_before = 0 "
            f"WHERE id = :id AND status IN ({_listed(expected)})",
            {"id": job.id, "status": status},
        )
        if not done:
            raise ConflictError(f"{job.task_id} is {self.get(job.id).status}", hint="see: agentforge queue list")

    # -- below: statements

    def _first_in_line(self, connection: Any, full: Sequence[str], driving: Collection[str]) -> Job | None:
        """The job that comes next; a delay that a clock which was set back would make endless counts as over."""
        now = self._database.now
        found = self._rows(
            connection,
            f"WHERE status = 'queued' AND (not_before <= {now} OR not_before > {now} + :longest) "
            "AND repo NOT IN :full AND id NOT IN :driving ORDER BY priority, added, id LIMIT 1",
            {"longest": LONGEST_DELAY_S, "full": tuple(full), "driving": tuple(driving)},
        )
        return found[0] if found else None

    def _given_to(self, worker: str, job: Job, connection: Any) -> Job:
        import sqlalchemy

        connection.execute(
            sqlalchemy.text(
                f"UPDATE agentforge_queue SET status = 'running', attempt = :attempt, worker = :worker, note = '', "
                f"beat = {self._database.now} WHERE id = :id"
            ),
            {"id": job.id, "attempt": job.attempt + 1, "worker": worker},
        )
        return self._rows(connection, "WHERE id = :id", {"id": job.id})[0]

    def _is_paused(self, connection: Any) -> bool:
        rows = connection.exec_driver_sql("SELECT value FROM agentforge_flags WHERE name = 'paused'").all()
        return bool(rows) and rows[0][0] == "yes"

    def _run(self, statement: str, values: Mapping[str, object]) -> bool:
        with self._database.change() as connection:
            return bool(connection.execute(_prepared(statement, values), dict(values)).rowcount)

    def _select(self, rest: str, values: Mapping[str, object]) -> list[Job]:
        with self._database.change() as connection:
            return self._rows(connection, rest, values)

    def _rows(self, connection: Any, rest: str, values: Mapping[str, object]) -> list[Job]:
        columns = [item.name for item in fields(Job)]
        statement = f"SELECT {', '.join(columns)} FROM agentforge_queue {rest}"
        rows: list[Any] = list(connection.execute(_prepared(statement, values), dict(values)))
        return [Job(**dict(zip(columns, row, strict=True))) for row in rows]


def _prepared(statement: str, values: Mapping[str, object]) -> Any:
    """A statement; a value that is a tuple stands for a list of any number of texts."""
    import sqlalchemy

    lists: list[Any] = [
        sqlalchemy.bindparam(name, type_=sqlalchemy.String(), expanding=True)
        for name, value in values.items()
        if isinstance(value, tuple)
    ]
    return sqlalchemy.text(statement).bindparams(*lists)


def _listed(words: Sequence[str]) -> str:
    """Words of this program as a list in SQL."""
    return ", ".join(f"'{word}'" for word in words)
