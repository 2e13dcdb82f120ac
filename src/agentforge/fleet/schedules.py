"""Tasks that begin later: once at a time, or again and again by a cron expression."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agentforge.canonical import digest_value
from agentforge.config.durations import parse_duration
from agentforge.errors import InfrastructureError, UsageError
from agentforge.fleet.database import Database
from agentforge.frozen import dataclass

_STARTED_WITHIN_S = 120
_AGAIN_S = 60.0
_WORDS = {"hourly": "0 * * * *", "daily": "0 6 * * *", "weekly": "0 6 * * 1", "monthly": "0 6 1 * *"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A task to be started.

    Attributes:
        cron: five fields, "" = once.
        arguments: of `agentforge start`.
        folder: where it is started.
        next_at: seconds of the database's clock.
    """

    id: str
    cron: str
    arguments: tuple[str, ...]
    folder: str
    next_at: float


class Schedules:
    """The table of schedules."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, *, cron: str, next_at: float, arguments: Sequence[str], folder: Path) -> Schedule:
        """Remember what is to be started; the same twice is one."""
        values = {"cron": cron, "arguments": json.dumps(list(arguments)), "folder": str(folder)}
        values["id"] = digest_value([values, None if cron else next_at])[:12]
        self._run(
            "INSERT INTO agentforge_schedules (id, cron, arguments, folder, next_at, added) "
            f"VALUES (:id, :cron, :arguments, :folder, :next_at, {self._database.now}) ON CONFLICT (id) DO NOTHING",
            {**values, "next_at": next_at},
        )
        return next(item for item in self.all() if item.id == values["id"])

    def all(self) -> list[Schedule]:
        """All schedules, the next first."""
        return self._rows("ORDER BY next_at")

    def remove(self, schedule_id: str) -> None:
        """Forget a schedule.

        Raises:
            UsageError: there is none of that id.
        """
        if not self._run("DELETE FROM agentforge_schedules WHERE id = :id", {"id": schedule_id}):
            raise UsageError(f"no schedule {schedule_id!r}", hint="see: agentforge queue list")

    def start_due(self, environ: Mapping[str, str], *, tell: Callable[[str], None]) -> None:
        """Put every task whose time has come into the queue; a time that was slept through is made up for once.

        What is to be started in a folder that this machine does not have is left to another one, or until it is back.
        """
        for item in self._rows(f"WHERE next_at <= {self._database.now}"):
            if Path(item.folder).is_dir() and self._advance(item):  # else another worker was faster
                self._start(item, environ, tell)

    def _start(self, item: Schedule, environ: Mapping[str, str], tell: Callable[[str], None]) -> None:
        """Start one; where this machine could not (its disk, a tool), what was to come once comes again soon."""
        try:
            done = subprocess.run(
                [sys.executable, "-m", "agentforge", "start", "--detach", *item.arguments],
                cwd=item.folder,
                env={**os.environ, **environ},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_STARTED_WITHIN_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as exc:  # the folder went meanwhile, or the machine is very slow
            tell(f"schedule {item.id}: not known whether it was started, see `agentforge status`: {exc}")
            return
        said = (done.stdout if done.returncode == 0 else done.stderr).decode("utf-8", "replace").strip()
        tell(f"schedule {item.id}: {said}")
        if done.returncode == InfrastructureError.exit_code and not done.stdout and not item.cron:
            again = self._database.clock() + _AGAIN_S
            self.add(cron="", next_at=again, arguments=item.arguments, folder=Path(item.folder))
            tell(f"schedule {item.id}: is tried again in {_AGAIN_S:.0f} s")

    def _advance(self, item: Schedule) -> bool:
        """Take the turn of a schedule: the next time is set before anything is started."""
        values = {"id": item.id, "at": item.next_at}
        if not item.cron:
            return self._run("DELETE FROM agentforge_schedules WHERE id = :id AND next_at = :at", values)
        following = next_time(item.cron, after=self._database.clock())
        return self._run(
            "UPDATE agentforge_schedules SET next_at = :following WHERE id = :id AND next_at = :at",
            {**values, "following": following},
        )

    def _rows(self, rest: str) -> list[Schedule]:
        with self._database.change() as connection:
            rows: list[Any] = list(
                connection.exec_driver_sql(
                    f"SELECT id, cron, arguments, folder, next_at FROM agentforge_schedules {rest}"
                )
            )
        return [
            Schedule(id=row[0], cron=row[1], arguments=tuple(json.loads(row[2])), folder=row[3], next_at=row[4])
            for row in rows
        ]

    def _run(self, statement: str, values: Mapping[str, object]) -> bool:
        import sqlalchemy

        with self._database.change() as connection:
            return bool(connection.execute(sqlalchemy.text(statement), dict(values)).rowcount)


def time_of(text: str, *, now: datetime) -> float:
    """Read `--at`: an ISO date and time, `18:30` (today or tomorrow), or `+2h`; local time unless it names a zone.

    Returns:
        Seconds since 1970.
    Raises:
        UsageError: it is none of these, or lies in the past.
    """
    try:
        if text.startswith("+"):
            return now.timestamp() + parse_duration(text[1:])
        if ":" in text and len(text) <= 5:
            hour, _, minute = text.partition(":")
            at = now.astimezone().replace(hour=int(hour), minute=int(minute), second=0, microsecond=0)
            at = at if at > now else at + timedelta(days=1)
        else:
            at = datetime.fromisoformat(text)
            at = at if at.tzinfo else at.astimezone()
    except ValueError as exc:
        raise UsageError(f"--at {text}: no such time", hint="write 2026-11-23T06:00, 18:30 or +2h") from exc
    if at.timestamp() < now.timestamp():
        raise UsageError(f"--at {text} lies in the past", hint="leave --at out to start now")
    return at.timestamp()


def cron_of(text: str) -> str:
    """Read `--every`: five fields as cron has them, or hourly, daily, weekly, monthly.

    Raises:
        UsageError: it is neither.
    """
    from croniter import croniter

    cron = _WORDS.get(text.strip().lower(), text.strip())
    if len(cron.split()) != 5 or not croniter.is_valid(cron):
        raise UsageError(
            f"--every {text}: no such rhythm",
            hint='five fields of cron, such as "0 6 * * 1-5", or ' + ", ".join(_WORDS),
        )
    return cron


def next_time(cron: str, *, after: float) -> float:
    """When a cron expression comes next, in local time."""
    from croniter import croniter

    start = datetime.fromtimestamp(after, tz=UTC).astimezone()
    return float(croniter(cron, start).get_next(float))
