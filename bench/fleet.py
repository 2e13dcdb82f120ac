"""Many tasks over several workers that are killed at random: is every one delivered, and none twice? And what does it cost?

    python bench/fleet.py --tasks 200 --workers 4                       # SQLite
    python bench/fleet.py --tasks 200 --workers 4 --postgres --away 5   # a PostgreSQL of its own, taken away in the middle

The tasks are whole deliveries by scripted replies; results of equal test runs are shared, so what is measured is the fleet.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_SETTINGS = "[fleet]\nlease_s = {lease}\nperiod_s = 0.25\ncrashes = 25\n"
_PROJECT = '[verification]\nmutants = 0\nimpact_s = 0\n[checks]\ndisable = ["ruff", "types"]\n'
_CALLS = 5
"""Model calls of one undisturbed task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What came out.

    Attributes:
        delivered_twice: runs with more than one record of a delivery.
        repeated_calls: model calls beyond those of undisturbed tasks, over all tasks.
        worst_repeated: the same for the task that was hit most, above its number of takeovers: must be <= 0.
        overhead_s: worker seconds per task that no run used.
    """

    database: str
    tasks: int
    workers: int
    delivered: int
    delivered_twice: int
    branches: int
    kills: int
    freezes: int
    repeated_calls: int
    worst_repeated: int
    wall_s: float
    tasks_per_minute: float
    run_s: float
    overhead_s: float


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


def run_fleet(
    folder: Path, *, tasks: int, workers: int, url: str = "", kill_every_s: float = 4.0, kills: int = 10**6,
    seed: int = 1, deadline_s: float = 3600.0, lease_s: float = 4.0, server: Postgres | None = None, away_s: float = 0.0,
    plugins: bool = True,
) -> Figures:  # fmt: skip
    """Queue tasks, let workers drive them, kill workers at random, and count.

    Args:
        kills: at most so many workers are killed or frozen.
        server: the database of the URL; it is taken away for `away_s` seconds once a task is delivered.
        plugins: whether the tasks' test runs load the plugins of this environment, as at a user's.
    """
    world = _world(folder, plugins=plugins)
    config = Path(world.env["AGENTFORGE_HOME"]) / "config" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    bare = config.read_text() if config.exists() else ""
    config.write_text(_SETTINGS.format(lease=lease_s) + bare)
    world.settings(_PROJECT)
    environ = {**world.env, **({"AGENTFORGE_DATABASE_URL": url} if url else {})}
    ledger = _queued(world, environ, tasks)
    chance = random.Random(seed)
    started = time.monotonic()
    crew = [_worker(world, environ) for _ in range(workers)]
    frozen: list[subprocess.Popen[bytes]] = []
    hits = freezes = 0
    next_hit = started + kill_every_s
    try:
        while (done := ledger.counts().get("done", 0)) < tasks and time.monotonic() - started < deadline_s:
            time.sleep(0.1)
            if server is not None and away_s and done:
                server.stop()
                time.sleep(away_s)
                server.start()
                away_s = 0.0
            if time.monotonic() > next_hit and hits < kills:
                next_hit = time.monotonic() + chance.uniform(0.5, 1.5) * kill_every_s
                hits += 1
                victim = crew.pop(chance.randrange(len(crew)))
                if hits % 4 == 0:
                    freezes += 1
                    victim.send_signal(signal.SIGSTOP)
                    frozen.append(victim)
                else:
                    victim.kill()
                    victim.wait()
                crew.append(_worker(world, environ))
        wall = time.monotonic() - started
        for one in frozen:  # they wake up and find that others have their tasks
            one.send_signal(signal.SIGCONT)
    finally:
        for one in (*crew, *frozen):
            one.terminate()
        for one in (*crew, *frozen):
            one.wait(timeout=60)
    found = _figures(world, ledger, tasks=tasks, workers=workers, wall=wall, hits=hits, freezes=freezes, url=url)
    ledger.close()
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFigures:
    """What a queue of many jobs costs, in milliseconds of the wall for each call, the median of several."""

    queued: int
    look_ms: float
    list_ms: float
    find_ms: float
    claim_ms: float


def measure_queue(url: str, *, queued: int, rounds: int = 20) -> QueueFigures:
    """Fill the queue and do what workers and people do with it.

    Args:
        url: of a database that is used for nothing else.
    """
    import sqlalchemy

    from agentforge.fleet.database import open_database
    from agentforge.fleet.ledger import Ledger

    database = open_database(url)
    ledger = Ledger(database)
    rows = [{"id": f"m{n:07}", "task": f"task-20260101-many-{n:07}", "priority": n % 7} for n in range(queued)]
    with database.change() as connection:
        connection.execute(
            sqlalchemy.text(
                "INSERT INTO agentforge_queue (id, repo, task_id, priority, status, added) "
                "VALUES (:id, '/r', :task, :priority, 'queued', 0)"
            ),
            rows,
        )
    times: dict[str, list[float]] = {}

    def timed(name: str, act: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        found = act()
        times.setdefault(name, []).append((time.perf_counter() - began) * 1000)
        return found

    for number in range(rounds):
        timed("look", ledger.out)
        timed("list", lambda: ledger.jobs(statuses=("queued", "running"), limit=100))
        timed("find", lambda n=number: ledger.find(f"task-20260101-many-{n:07}"))
        timed("claim", lambda n=number: ledger.claim(f"w{n}", driving=(), at_most=1))
    database.close()
    middle = {name: round(statistics.median(found), 1) for name, found in times.items()}
    return QueueFigures(
        queued=queued, look_ms=middle["look"], list_ms=middle["list"], find_ms=middle["find"], claim_ms=middle["claim"]
    )


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


def _world(folder: Path, *, plugins: bool = False) -> Any:
    module = sys.modules.get("agentforge_world")
    if module is None:
        path = Path(__file__).resolve().parents[1] / "tests" / "e2e" / "world.py"
        spec = importlib.util.spec_from_file_location("agentforge_world", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["agentforge_world"] = module
        spec.loader.exec_module(module)
    return module.make_world(folder / "repo", folder / "home", pycache=folder / "pycache", plugins=plugins)


def _queued(world: Any, environ: dict[str, str], tasks: int) -> Any:
    from agentforge.app.tasks.runs import StartOptions, create
    from agentforge.config.settings import load
    from agentforge.fleet.database import database_url, open_database
    from agentforge.fleet.ledger import Ledger

    settings = load(world.repo, environ)
    ledger = Ledger(open_database(database_url(settings, environ)))
    request = "Add slugify(text) to textkit: slugify('Hello World') -> 'hello-world'"
    options = StartOptions(request=request, cwd=world.repo, model=world.model())
    for _ in range(tasks):
        made = create(options, settings=settings, environ=environ, watch=lambda _event, _state: None)
        ledger.add(world.repo, made.state.run_id)
    return ledger


def _worker(world: Any, environ: dict[str, str]) -> subprocess.Popen[bytes]:
    with (world.home / "workers.log").open("ab") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "agentforge", "worker"],
            cwd=world.repo,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )


def _figures(
    world: Any, ledger: Any, *, tasks: int, workers: int, wall: float, hits: int, freezes: int, url: str
) -> Figures:
    from agentforge.store.log.reader import fold, read

    jobs = {job.task_id: job for job in ledger.jobs(limit=10**6)}
    delivered = twice = extra = 0
    worst = -(10**6)
    run_s = 0.0
    for folder in sorted((world.repo / ".agentforge" / "tasks").iterdir()):
        state = fold(folder).state
        delivered += state.outcome == "delivered"
        kinds = [type(record.event).__name__ for record in read(folder)]
        twice += kinds.count("Delivered") > 1
        more = kinds.count("ModelCalled") - _CALLS
        extra += more
        worst = max(worst, more - (jobs[folder.name].attempt - 1))
        run_s += state.active_s
    branches = len(world.git("branch", "--list", "agentforge/*").splitlines())
    return Figures(
        database="PostgreSQL" if url.startswith("postgres") else "SQLite",
        tasks=tasks,
        workers=workers,
        delivered=delivered,
        delivered_twice=twice,
        branches=branches,
        kills=hits - freezes,
        freezes=freezes,
        repeated_calls=extra,
        worst_repeated=worst,
        wall_s=round(wall, 1),
        tasks_per_minute=round(60 * delivered / wall, 1),
        run_s=round(run_s / max(1, tasks), 2),
        overhead_s=round((wall * workers - run_s) / max(1, tasks), 2),
    )


def _beside(server: Postgres | None, folder: Path) -> str:
    """A database of its own at the same place."""
    return server.another("many") if server else f"sqlite:///{folder / 'many.sqlite'}"


def main() -> int:
    """Run the measurement that the flags describe, and print its figures as JSON.

    Returns:
        0 when all was delivered and nothing twice.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--queued", type=int, default=10_000, help="jobs in a queue that is only looked at; 0 = none")
    parser.add_argument("--kill-every", type=float, default=8.0, help="seconds between two kills, on average")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--away", type=float, default=0.0, help="seconds for which PostgreSQL is stopped in the middle")
    given = parser.parse_args()
    with ExitStack() as stack:
        server = stack.enter_context(postgres()) if given.postgres else None
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agentforge-fleet-")))
        found = run_fleet(
            folder, tasks=given.tasks, workers=given.workers, url=server.url if server else "",
            kill_every_s=given.kill_every, seed=given.seed, lease_s=10.0, server=server, away_s=given.away,
        )  # fmt: skip
        many = measure_queue(_beside(server, folder), queued=given.queued) if given.queued else None
    print(json.dumps({**asdict(found), "queue": asdict(many) if many else None}, indent=2))
    return 0 if found.delivered == found.tasks == found.branches and not found.delivered_twice else 1


if __name__ == "__main__":
    sys.exit(main())
