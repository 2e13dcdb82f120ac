"""The database of the queue: an SQLite file in the data folder, or PostgreSQL by its URL. Same tables, same statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.errors import ConfigError, InfrastructureError, StorageError
from agentforge.frozen import dataclass
from agentforge.installation import command_for

VARIABLE = "AGENTFORGE_DATABASE_URL"
_TABLES = (
    """CREATE TABLE IF NOT EXISTS agentforge_queue (
        id TEXT PRIMARY KEY, repo TEXT NOT NULL, task_id TEXT NOT NULL, priority INTEGER NOT NULL, status TEXT NOT NULL,
        attempt INTEGER NOT NULL DEFAULT 0, crashes INTEGER NOT NULL DEFAULT 0, worker TEXT NOT NULL DEFAULT '',
        beat DOUBLE PRECISION NOT NULL DEFAULT 0, not_before DOUBLE PRECISION NOT NULL DEFAULT 0,
        added DOUBLE PRECISION NOT NULL, note TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX IF NOT EXISTS agentforge_queue_status ON agentforge_queue (status, priority, added)",
    "CREATE TABLE IF NOT EXISTS agentforge_flags (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS agentforge_schedules (
        id TEXT PRIMARY KEY, cron TEXT NOT NULL, arguments TEXT NOT NULL, folder TEXT NOT NULL,
        next_at DOUBLE PRECISION NOT NULL, added DOUBLE PRECISION NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS agentforge_buckets (
        name TEXT PRIMARY KEY, level DOUBLE PRECISION NOT NULL, at DOUBLE PRECISION NOT NULL)""",
)
_IDLE_S = 30
_NOW = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "extract(epoch from clock_timestamp())::double precision",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """An open database.

    Attributes:
        url: it may hold a password, `shown` does not.
        now: the SQL of the present moment in seconds; the clock of the database is the only one that workers share.
    """

    url: str
    shown: str
    now: str
    engine: Any

    @contextmanager
    def change(self) -> Iterator[Any]:
        """A transaction.

        Raises:
            StorageError: the database does not answer.
        """
        from sqlalchemy.exc import DBAPIError

        try:
            with self.engine.begin() as connection:
                yield connection
        except DBAPIError as exc:
            raise unreachable(self.shown, exc.orig) from exc

    @property
    def file(self) -> Path | None:
        """Where it is, when it is a file."""
        url = self.engine.url
        return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None

    def clock(self) -> float:
        """The present moment, in seconds since 1970, as the database has it.

        Raises:
            StorageError: the database does not answer.
        """
        with self.change() as connection:
            return float(connection.exec_driver_sql(f"SELECT {self.now}").scalar_one())

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


def database_url(settings: Settings, environ: Mapping[str, str]) -> str:
    """Where the queue is: the variable, else the setting `fleet.database_url`, else a file in the data folder."""
    url = environ.get(VARIABLE, "").strip() or settings.text("fleet.database_url")
    return url or f"sqlite:///{data_dir(environ) / 'fleet.sqlite'}"


def open_database(url: str) -> Database:
    """Connect, and make the tables where there are none.

    Raises:
        InfrastructureError: the extra is not installed.
        ConfigError: the URL is neither SQLite's nor PostgreSQL's.
        StorageError: the database does not answer.
    """
    try:
        import sqlalchemy
    except ImportError as exc:
        raise InfrastructureError("the queue needs the extra `fleet`", hint=command_for("fleet")) from exc
    kind = urlsplit(url).scheme.partition("+")[0]
    if kind not in ("sqlite", "postgresql", "postgres"):
        raise ConfigError(
            f"the queue cannot live in {shown_url(url)}", hint="sqlite:////ABSOLUTE/FILE or postgresql://USER@HOST/NAME"
        )
    dialect = "sqlite" if kind == "sqlite" else "postgresql"
    place = url if dialect == "sqlite" else f"postgresql+psycopg:{url.partition(':')[2]}"
    waits = {"timeout": 30} if dialect == "sqlite" else {"connect_timeout": 5}
    engine = sqlalchemy.create_engine(place, connect_args=waits, pool_pre_ping=True)
    if dialect == "postgresql":
        sqlalchemy.event.listen(engine, "connect", _bound_idle_transactions)
    database = Database(url=url, shown=shown_url(url), now=_NOW[dialect], engine=engine)
    with database.change() as connection:
        if dialect == "sqlite":
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        else:
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7245116)")  # two workers that begin at once
        for table in _TABLES:
            connection.exec_driver_sql(table)
    return database


def shown_url(url: str) -> str:
    """The URL without its password."""
    parts = urlsplit(url)
    if not parts.password:
        return url
    name, _, place = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{name.partition(':')[0]}:***@{place}"))


def _bound_idle_transactions(connection: Any, _record: object) -> None:
    """Who is frozen in the middle of a change loses it, and what it had locked is free."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET idle_in_transaction_session_timeout = '{_IDLE_S}s'")
    connection.commit()


def unreachable(shown: str, reason: object) -> StorageError:
    """The error of a database that does not answer."""
    told = " ".join(str(reason).split())[:300]
    return StorageError(
        f"the database of the queue, {shown}, does not answer: {told}", hint="the tasks are safe; start it"
    )
