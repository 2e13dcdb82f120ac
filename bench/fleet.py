"""Many tasks over several workers that are killed at random: is every one delivered, and none twice? And what does it cost?

    python -m bench.fleet --tasks 200 --workers 4                       # SQLite
    python -m bench.fleet --tasks 200 --workers 4 --postgres --away 5   # a PostgreSQL of its own, taken away in the middle
    python -m bench.fleet --tasks 1000 --repositories 50 --workers 4 --light --folder F    # goes on in F where it was stopped

The tasks are whole deliveries by scripted replies; results of equal test runs are shared within a repository, so what is measured
is the fleet. Processor time is that of all workers and of everything they started, killed ones included, as the kernel counts it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.own_postgres import NoPostgres, Postgres, postgres
from tests.support.world import World, make_world

__all__ = ["Figures", "NoPostgres", "Postgres", "measure_queue", "postgres", "run_fleet"]
_SETTINGS = "[fleet]\nlease_s = {lease}\nperiod_s = {period}\ncrashes = 25\n"
_PROJECT = '[verification]\nmutants = 0\nimpact_s = 0\n[checks]\ndisable = ["ruff", "types"]\n'
_CALLS = 5
"""Model calls of one undisturbed task."""
_SET_CHILD_SUBREAPER = 36
_QUICK = ["--tasks", "6", "--repositories", "2", "--workers", "2", "--light", "--kills", "2", "--queued", "500"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What came out.

    Attributes:
        delivered_twice: runs with more than one record of a delivery.
        repeated_calls: model calls beyond those of undisturbed tasks, over all tasks.
        worst_repeated: the same for the task that was hit most, above its number of takeovers: must be <= 0.
        overhead_s: worker seconds per task that no run used.
        cpu_s: processor seconds per task, of the workers and everything below them.
    """

    database: str
    repositories: int
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
    cpu_s: float


@dataclass(kw_only=True)
class _Spent:
    """What a measurement has taken so far; one that is started again in its folder goes on from there."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    kills: int = 0
    freezes: int = 0


def run_fleet(
    folder: Path, *, tasks: int, workers: int, repositories: int = 1, url: str = "", kill_every_s: float = 4.0,
    kills: int = 10**6, seed: int = 1, deadline_s: float = 3600.0, lease_s: float = 4.0, period_s: float = 0.25,
    server: Postgres | None = None, away_s: float = 0.0, plugins: bool = True, adopts: bool = False,
) -> Figures:  # fmt: skip
    """Queue tasks, let workers drive them, kill workers at random, and count.

    Args:
        folder: where everything is kept; what an earlier measurement left there goes on.
        lease_s, period_s: the settings `fleet.lease_s` and `fleet.period_s`; the second is 1 second for a user who sets nothing.
        kills: at most so many workers are killed or frozen.
        deadline_s: no longer than this, whatever is left to do.
        server: the database of the URL; it is taken away for `away_s` seconds once a task is delivered.
        plugins: whether the tasks' test runs load the plugins of this environment, as at a user's.
        adopts: whether this process is the parent of orphans, and may wait for every child that it has.
    """
    worlds = [_world(folder, number, repositories, plugins=plugins) for number in range(repositories)]
    environ = {**worlds[0].env, **({"AGENTFORGE_DATABASE_URL": url} if url else {})}
    config = Path(environ["AGENTFORGE_HOME"]) / "config" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    bare = config.read_text().removeprefix(_SETTINGS.format(lease=lease_s, period=period_s)) if config.exists() else ""
    config.write_text(_SETTINGS.format(lease=lease_s, period=period_s) + bare)
    ledger = _queued(worlds, environ, tasks)
    kept = folder / "spent.json"
    before = _Spent(**json.loads(kept.read_text())) if kept.exists() else _Spent()
    spent = _Spent(**asdict(before))
    chance = random.Random(f"{seed} {before.kills + before.freezes}")
    began_cpu = _cpu_s(())
    started = time.monotonic()
    crew = [_worker(worlds[0], environ) for _ in range(workers)]
    frozen: list[subprocess.Popen[bytes]] = []
    next_hit = started + kill_every_s
    try:
        while (done := ledger.counts().get("done", 0)) < tasks and time.monotonic() - started < deadline_s:
            time.sleep(0.2)
            if adopts:
                _cpu_s({one.pid for one in (*crew, *frozen)})
            if server is not None and away_s and done:
                server.stop()
                time.sleep(away_s)
                server.start()
                away_s = 0.0
            if time.monotonic() > next_hit and spent.kills + spent.freezes < kills:
                next_hit = time.monotonic() + chance.uniform(0.5, 1.5) * kill_every_s
                _hit(crew, frozen, spent, chance)
                crew.append(_worker(worlds[0], environ))
        spent.wall_s += time.monotonic() - started
        for one in frozen:  # they wake up and find that others have their tasks
            one.send_signal(signal.SIGCONT)
    finally:
        for one in (*crew, *frozen):
            one.terminate()
        for one in (*crew, *frozen):
            one.wait(timeout=60)
        if adopts:
            spent.cpu_s += _cpu_s(set()) - began_cpu
        kept.write_text(json.dumps(asdict(spent)))
    found = _figures(worlds, ledger, tasks=tasks, workers=workers, spent=spent, url=url)
    ledger.close()
    return found


def _hit(
    crew: list[subprocess.Popen[bytes]], frozen: list[subprocess.Popen[bytes]], spent: _Spent, chance: random.Random
) -> None:
    """Kill one worker; every fourth time it only stands still."""
    victim = crew.pop(chance.randrange(len(crew)))
    if (spent.kills + spent.freezes) % 4 == 3:
        spent.freezes += 1
        victim.send_signal(signal.SIGSTOP)
        frozen.append(victim)
    else:
        spent.kills += 1
        victim.kill()
        victim.wait()


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


def _world(folder: Path, number: int = 0, of: int = 1, *, plugins: bool = False, fresh: bool = True) -> World:
    """One repository of several, and the home that all of them share; it is made where it does not stand yet."""
    repo, home, pycache = folder / (f"repo-{number:03}" if of > 1 else "repo"), folder / "home", folder / "pycache"
    if (repo / ".agentforge").exists():
        return World(repo=repo, home=home, pycache=pycache, fresh=fresh or plugins)
    world = make_world(repo, home, pycache=pycache, plugins=plugins, fresh=fresh)
    world.settings(_PROJECT)
    return world


def _queued(worlds: Sequence[Any], environ: dict[str, str], tasks: int) -> Any:
    """The queue, with so many tasks; those that stand in it already are counted."""
    from agentforge.app.tasks.runs import create
    from agentforge.app.tasks.start_options import StartOptions
    from agentforge.config.settings import load
    from agentforge.fleet.database import database_url, open_database
    from agentforge.fleet.ledger import Ledger

    settings = [load(world.repo, environ) for world in worlds]
    ledger = Ledger(open_database(database_url(settings[0], environ)))
    request = "Add slugify(text) to textkit: slugify('Hello World') -> 'hello-world'"
    model = worlds[0].model()
    for number in range(sum(ledger.counts().values()), tasks):
        place = number % len(worlds)
        options = StartOptions(request=request, cwd=worlds[place].repo, model=model)
        made = create(options, settings=settings[place], environ=environ, watch=lambda _event, _state: None)
        ledger.add(worlds[place].repo, made.state.identity.run_id)
    return ledger


def _cpu_s(known: Collection[int]) -> float:
    """Processor seconds of all children that were waited for; orphans that were left to this process are waited for here.

    Args:
        known: children that somebody else waits for.
    """
    for thread in Path("/proc/self/task").iterdir():
        for pid in map(int, (thread / "children").read_text().split()):
            if pid not in known:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


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


def _figures(worlds: Sequence[Any], ledger: Any, *, tasks: int, workers: int, spent: _Spent, url: str) -> Figures:
    """What the runs' own logs say, beside what the queue says."""
    from agentforge.store.log.reader import fold, read

    delivered = twice = extra = 0
    worst = -(10**6)
    run_s = 0.0
    for job in ledger.jobs(limit=10**6):
        state = fold(job.folder).state
        delivered += state.progress.outcome == "delivered"
        kinds = [type(record.event).__name__ for record in read(job.folder)]
        twice += kinds.count("Delivered") > 1
        more = kinds.count("ModelCalled") - _CALLS if state.progress.outcome == "delivered" else 0
        extra += more
        worst = max(worst, more - (job.attempt - 1))
        run_s += state.progress.active_s
    branches = sum(len(world.git("branch", "--list", "agentforge/*").splitlines()) for world in worlds)
    return Figures(
        database="PostgreSQL" if url.startswith("postgres") else "SQLite",
        repositories=len(worlds),
        tasks=tasks,
        workers=workers,
        delivered=delivered,
        delivered_twice=twice,
        branches=branches,
        kills=spent.kills,
        freezes=spent.freezes,
        repeated_calls=extra,
        worst_repeated=worst,
        wall_s=round(spent.wall_s, 1),
        tasks_per_minute=round(60 * delivered / spent.wall_s, 1),
        run_s=round(run_s / max(1, delivered), 2),
        overhead_s=round((spent.wall_s * workers - run_s) / max(1, delivered), 2),
        cpu_s=round(spent.cpu_s / max(1, delivered), 2),
    )


def _beside(server: Postgres | None, folder: Path) -> str:
    """A database of its own at the same place."""
    return server.another("many") if server else f"sqlite:///{folder / 'many.sqlite'}"


def main() -> int:
    """Run the measurement that the flags describe, and print its figures as JSON.

    Returns:
        0 when all was delivered and nothing twice.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few small tasks: shows that everything works")
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--repositories", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--light", action="store_true", help="test runs load no plugins of this environment")
    parser.add_argument("--folder", type=Path, help="keep everything here, and go on with what stands here")
    parser.add_argument("--deadline", type=float, default=3600.0, help="stop after so many seconds, whatever is left")
    parser.add_argument("--queued", type=int, default=10_000, help="jobs in a queue that is only looked at; 0 = none")
    parser.add_argument("--kill-every", type=float, default=8.0, help="seconds between two kills, on average")
    parser.add_argument("--kills", type=int, default=10**6, help="at most so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--away", type=float, default=0.0, help="seconds for which PostgreSQL is stopped in the middle")
    given = parser.parse_args()
    if given.quick:
        given = parser.parse_args([*_QUICK, *sys.argv[1:]])
    if given.postgres and given.folder:
        parser.error("a PostgreSQL of its own ends with the measurement: leave --folder out")
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with ExitStack() as stack:
        server = stack.enter_context(postgres()) if given.postgres else None
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agentforge-fleet-")))
        found = run_fleet(
            folder.resolve(), tasks=given.tasks, workers=given.workers, repositories=given.repositories,
            url=server.url if server else "", kill_every_s=given.kill_every, kills=given.kills, seed=given.seed, lease_s=10.0,
            period_s=1.0, deadline_s=given.deadline, server=server, away_s=given.away, plugins=not given.light, adopts=True,
        )  # fmt: skip
        with tempfile.TemporaryDirectory() as beside:
            many = measure_queue(_beside(server, Path(beside)), queued=given.queued) if given.queued else None
    print(json.dumps({**asdict(found), "queue": asdict(many) if many else None}, indent=2))
    return 0 if found.delivered == found.tasks == found.branches and not found.delivered_twice else 1


if __name__ == "__main__":
    sys.exit(main())
