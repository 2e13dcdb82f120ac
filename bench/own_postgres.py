"""A PostgreSQL of its own: in a private folder, on a private port, started and stopped by whoever measures with it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class NoPostgres(Exception):
    """There is no PostgreSQL on this machine that could be started."""


class Postgres:
    """A PostgreSQL of its own in a private folder, on a private port.

    Raises:
        NoPostgres: it is not installed, or cannot be started here.
    """

    def __init__(self, folder: Path) -> None:
        self._programs = _postgres_programs()
        self._folder = folder
        self._as_user: tuple[str, ...] = ()
        if os.geteuid() == 0:
            self._as_user = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups")
            shutil.chown(folder, "postgres")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.url = f"postgresql://agentforge@127.0.0.1:{self._port}/agentforge"
        self._run("initdb", "-U", "agentforge", "-A", "trust", "-E", "UTF8", "--no-sync")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self._port} -k {self._folder} -c listen_addresses=127.0.0.1"
        self._run("pg_ctl", "-w", "-l", self._folder / "log", "-o", options, "start")

    def make_database(self, name: str = "agentforge") -> None:
        """Make a database; without a name that of the URL."""
        _do(self._programs / "createdb", "-h", "127.0.0.1", "-p", self._port, "-U", "agentforge", name)

    def another(self, name: str) -> str:
        """Make a further database; returns its URL."""
        self.make_database(name)
        return f"{self.url.rpartition('/')[0]}/{name}"

    def stop(self) -> None:
        """Stop it at once, as a machine that fails does."""
        self._run("pg_ctl", "-m", "immediate", "-w", "stop")

    def _run(self, program: str, *arguments: object) -> None:
        _do(*self._as_user, self._programs / program, "-D", self._folder / "data", *arguments)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL that runs, with an empty database.

    Raises:
        NoPostgres: it is not installed, or cannot be started here.
    """
    folder = Path(tempfile.mkdtemp(prefix="agentforge-pg-"))
    try:
        server = Postgres(folder)
        server.start()
        try:
            server.make_database()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _postgres_programs() -> Path:
    found = shutil.which("initdb")
    places = (
        [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    )
    for place in places:
        if (place / "initdb").exists():
            return place
    raise NoPostgres("PostgreSQL is not installed (apt install postgresql)")


def _do(*command: object) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd="/")
    if done.returncode:
        raise NoPostgres(f"{command[0]}: {done.stderr.strip()[:300]}")
