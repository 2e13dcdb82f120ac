"""Where tasks stand in the queue, for who only looks: a queue in a file is read without loading what workers need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from agentforge.config.settings import Settings
from agentforge.errors import AgentForgeError, StorageError
from agentforge.fleet.database import database_url, open_database
from agentforge.frozen import dataclass

_IN_LINE = ("queued", "sent")
"""`sent`: by a worker of a version before 0.2."""
_JOBS = (
    "SELECT repo, task_id, status FROM agentforge_queue WHERE status IN ('queued', 'sent', 'paused', 'quarantined') "
    "ORDER BY priority, added, id"
)
_FLAG = "SELECT value FROM agentforge_flags WHERE name = 'paused'"
_PATIENCE_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A task in the queue that nobody drives now.

    Attributes:
        status: queued; paused or quarantined = held back until somebody lets it go on.
        place: 1 = comes next; 0 when it is held back.
        of: how many stand in line.
        held: the whole queue is paused.
    """

    status: str
    place: int
    of: int
    held: bool = False

    @property
    def words(self) -> str:
        """`queued, 2 of 7`."""
        if self.status != "queued":
            return f"{self.status} in the queue"
        return f"queued, {self.place} of {self.of}" + (", the queue is paused" if self.held else "")

    def next_step(self, task_id: str) -> str:
        """The command that lets it go on."""
        if self.status != "queued":
            return f"agentforge queue resume {task_id}"
        return "agentforge queue resume" if self.held else "agentforge worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The queue as it stood when somebody looked.

    Attributes:
        trouble: why it could not be read, "" when it could.
    """

    standing: Mapping[Path, Queued]
    trouble: str = ""

    def of(self, folder: Path) -> Queued | None:
        """Where the task of a folder stands; None when the queue does not hold it, or a worker drives it."""
        return self.standing.get(folder)


def look_at_line(settings: Settings, environ: Mapping[str, str]) -> Line:
    """Read who stands in the queue; a queue that does not exist is empty, and is not made."""
    url = database_url(settings, environ)
    try:
        jobs, held = _read_file(Path(url.removeprefix("sqlite:///"))) if url.startswith("sqlite:///") else _read(url)
    except AgentForgeError as exc:
        return Line(standing={}, trouble=exc.message)
    return Line(standing=_standing(jobs, held=held))


def _standing(jobs: Iterable[tuple[str, str, str]], *, held: bool) -> dict[Path, Queued]:
    rows = list(jobs)
    of = sum(status in _IN_LINE for _, _, status in rows)
    found, place = {}, 0
    for repo, task_id, status in rows:
        waits = status in _IN_LINE
        place += waits
        folder = Path(repo) / ".agentforge" / "tasks" / task_id
        found[folder] = Queued(status="queued" if waits else status, place=place if waits else 0, of=of, held=held)
    return found


def _read_file(file: Path) -> tuple[list[Any], bool]:
    """Read an SQLite file.

    Raises:
        StorageError: it cannot be read.
    """
    import sqlite3

    if not file.is_file():
        return [], False
    try:
        with closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE_S)
        ) as connection:
            jobs, flags = connection.execute(_JOBS).fetchall(), connection.execute(_FLAG).fetchall()
    except sqlite3.Error as exc:
        raise StorageError(f"the queue in {file} cannot be read: {exc}") from exc
    return jobs, flags == [("yes",)]


def _read(url: str) -> tuple[list[Any], bool]:
    """Read a queue in PostgreSQL.

    Raises:
        AgentForgeError: it does not answer, or the extra is not installed.
    """
    with closing(open_database(url)) as database, database.change() as connection:
        jobs = [tuple(row) for row in connection.exec_driver_sql(_JOBS)]
        flags = [tuple(row) for row in connection.exec_driver_sql(_FLAG)]
    return jobs, flags == [("yes",)]
