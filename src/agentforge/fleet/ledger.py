"""What stands in the queue and how far it is. A run's own log stays the only truth about the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from agentforge.canonical import digest_value
from agentforge.errors import ConflictError, UsageError
from agentforge.fleet.database import Database
from agentforge.frozen import dataclass

LONGEST_DELAY_S = 300.0
"""How long a job is held back at most; who is held back longer met a clock that was set back."""
LIVE = ("queued", "sent", "running", "parked", "paused")
"""What is still to come: to be sent, sent to the workers, driven, waiting for an answer or another task, held back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A task in the queue.

    Attributes:
        status: queued, sent, running, parked, paused, done, cancelled or quarantined.
        attempt: how often it was sent to the workers.
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

    @property
    def send_id(self) -> str:
        """The id under which this attempt is sent: sending it twice sends it once."""
        return f"{self.id}.{self.attempt}"


class Ledger:
    """The table of jobs. Every change names the state that it expects, so of several workers one succeeds."""

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

    def ready(self, *, ahead: int) -> list[Job]:
        """What may be sent now, so that no more than `ahead` are with the workers; nothing while the queue is paused."""
        if self.paused():
            return []
        counts, now = self.counts(), self._database.now
        room = ahead - counts.get("sent", 0)
        if room <= 0 or not counts.get("queued"):
            return []
        return self._select(
            f"WHERE status = 'queued' AND (not_before <= {now} OR not_before > {now} + :longest) "
            f"ORDER BY priority, added, id LIMIT {room}",
            {"longest": LONGEST_DELAY_S},
        )

    def send(self, job: Job) -> Job | None:
        """Mark a job as sent; None when somebody else was faster."""
        done = self._run(
            f"UPDATE agentforge_queue SET status = 'sent', attempt = attempt + 1, beat = {self._database.now} "
            "WHERE id = :id AND status = 'queued' AND attempt = :attempt",
            {"id": job.id, "attempt": job.attempt},
        )
        return self.get(job.id) if done else None

    def begin(self, job_id: str, attempt: int, *, worker: str) -> Job | None:
        """Take a job that was sent; None when this attempt is not the one that counts any more."""
        done = self._run(
            f"UPDATE agentforge_queue SET status = 'running', worker = :worker, beat = {self._database.now}, note = '' "
            "WHERE id = :id AND attempt = :attempt AND status = 'sent'",
            {"id": job_id, "attempt": attempt, "worker": worker},
        )
        return self.get(job_id) if done else None

    def end(
        self, job: Job, status: str, *, note: str = "", crashes: int = 0, delay_s: float = 0.0, since: str = "running"
    ) -> bool:
        """Let go of a job; False when another worker has taken it over."""
        return self._run(
            f"UPDATE agentforge_queue SET status = :status, note = :note, crashes = :crashes, "
            f"not_before = {self._database.now} + :delay WHERE id = :id AND attempt = :attempt AND status = :since",
            {
                "id": job.id,
                "attempt": job.attempt,
                "status": status,
                "note": note[:500],
                "crashes": crashes,
                "delay": delay_s,
                "since": since,
            },
        )

    def beat(self, worker: str) -> None:
        """Say that a worker lives, for all that it drives."""
        self._run(
            f"UPDATE agentforge_queue SET beat = {self._database.now} WHERE worker = :worker AND status = 'running'",
            {"worker": worker},
        )

    def take_back(self, job: Job, status: str, *, note: str, crashes: int) -> bool:
        """Take a job from its worker; False when that was heard of meanwhile."""
        return self._run(
            "UPDATE agentforge_queue SET status = :status, note = :note, crashes = :crashes, not_before = 0 "
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
        """Jobs that are with the workers, or on the way to them."""
        return self._select("WHERE status IN ('running', 'sent')", {})

    def driven_by(self, worker: str) -> set[tuple[str, int]]:
        """What a worker may go on driving: (id, attempt)."""
        rows = self._select("WHERE worker = :worker AND status = 'running'", {"worker": worker})
        return {(row.id, row.attempt) for row in rows}

    # -- what people do

    def paused(self) -> bool:
        """Whether the whole queue is held back."""
        with self._database.change() as connection:
            rows = connection.exec_driver_sql("SELECT value FROM agentforge_flags WHERE name = 'paused'").all()
        return bool(rows) and rows[0][0] == "yes"

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

    def _run(self, statement: str, values: Mapping[str, object]) -> bool:
        import sqlalchemy

        with self._database.change() as connection:
            return bool(connection.execute(sqlalchemy.text(statement), dict(values)).rowcount)

    def _select(self, rest: str, values: Mapping[str, object]) -> list[Job]:
        import sqlalchemy

        columns = [item.name for item in fields(Job)]
        statement = f"SELECT {', '.join(columns)} FROM agentforge_queue {rest}"
        with self._database.change() as connection:
            rows: list[Any] = list(connection.execute(sqlalchemy.text(statement), dict(values)))
        return [Job(**dict(zip(columns, row, strict=True))) for row in rows]


def _listed(words: Sequence[str]) -> str:
    """Words of this program as a list in SQL."""
    return ", ".join(f"'{word}'" for word in words)
