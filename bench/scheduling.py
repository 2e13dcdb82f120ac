"""A fleet of many machines in a time of its own: the program's own workers and queue, over a database that takes a while.

    python -m bench.scheduling --workers 1 10 50 100 200 --cost-ms 2
    python -m bench.scheduling --workers 1 2 4 8 16 32 --concurrency 1 --per-minute 60    # what the provider allows

Played are time, the processes that drive runs, and how long one change keeps the database busy (measure it: `--measure URL`).
What comes out is where the queue, and not the runs, becomes what everything waits for.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.support.fleet import simulation


def played(
    *, workers: int, concurrency: int, run_s: float, seconds: float, cost_s: float, period_s: float,
    per_minute: float = 0.0, seed: int = 1,
) -> dict[str, float]:  # fmt: skip
    """Let workers work for a while, with more in the queue than they can do; say what the database and they were busy with.

    Args:
        run_s: how long a run takes on average.
        seconds: of the played time, after a third of it has passed to fill everybody.
        cost_s: how long one change keeps the database busy.
        per_minute: requests that the provider takes from all runs together, ten a run; 0 = any number.
    """
    from agentforge.fleet.database import open_database
    from agentforge.fleet.worker import Plan

    plan = Plan(concurrency=concurrency, lease_s=20.0, crashes=1000, period_s=period_s)
    world = simulation.World(
        seed, open_database("sqlite://"), faults=simulation.Faults(until=0.0), workers=workers, machines=workers,
        jobs=int(workers * concurrency * (2 + 2 * seconds / run_s)), repositories=50, plan=plan, step_s=run_s / 10,
        steps=(5, 15), cost_s=cost_s, per_minute=per_minute,
    )  # fmt: skip
    world.clockwork.run(seconds / 3)
    changes, waited, began = world.server.changes, world.server.waited_s, world.clockwork.now
    ended, asked = world.ledger.counts().get("done", 0), len(world.requests)
    driving: list[int] = []
    while world.clockwork.now < seconds * 4 / 3:
        world.clockwork.run(world.clockwork.now + 5.0)
        driving.append(world.ledger.counts().get("running", 0))
    passed = world.clockwork.now - began
    changes, waited = world.server.changes - changes, world.server.waited_s - waited
    done = world.ledger.counts().get("done", 0) - ended
    world.clockwork.end()
    return {
        "workers": workers,
        "at once": workers * concurrency,
        "driven at once": round(statistics.mean(driving), 1),
        "tasks a minute": round(60 * done / passed, 1),
        "requests a minute": round(60 * (len(world.requests) - asked) / passed, 1),
        "most requests in a minute": _most_in_a_minute(world.requests),
        "changes a second": round(changes / passed, 1),
        "database busy": round(min(1.0, changes * cost_s / passed), 3),
        "ms a change waits": round(1000 * waited / max(1, changes), 1),
    }


def _most_in_a_minute(moments: Sequence[float]) -> int:
    """The most of them that lie within some 60 seconds."""
    first = most = 0
    for number, moment in enumerate(moments):
        while moment - moments[first] >= 60:
            first += 1
        most = max(most, number - first + 1)
    return most


def measure(url: str, *, rounds: int = 200) -> float:
    """Milliseconds of the wall that one claim and one end take, on a database that is used for nothing else."""
    from agentforge.fleet.database import open_database
    from agentforge.fleet.ledger import Ledger

    ledger = Ledger(open_database(url))
    for number in range(rounds):
        ledger.add(Path("/r"), f"task-{number}")
    began = time.perf_counter()
    for number in range(rounds):
        (job,) = ledger.claim(f"w{number}", driving=(), at_most=1)
        ledger.end(job, "done")
    ledger.close()
    return round(1000 * (time.perf_counter() - began) / (2 * rounds), 2)


def main() -> int:
    """Play what the flags describe, and print a row of figures for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 10, 50, 100])
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--run", type=float, default=300.0, help="seconds that a run takes")
    parser.add_argument("--seconds", type=float, default=60.0, help="played")
    parser.add_argument("--cost-ms", type=float, default=2.0)
    parser.add_argument("--period", type=float, default=1.0, help="fleet.period_s")
    parser.add_argument(
        "--per-minute", type=float, default=0.0, help="requests that the provider takes, 0 = any number"
    )
    parser.add_argument("--measure", metavar="URL", help="only measure what a change costs")
    given = parser.parse_args()
    if given.measure:
        print(json.dumps({"ms a change": measure(given.measure)}))
        return 0
    for workers in given.workers:
        row = played(
            workers=workers, concurrency=given.concurrency, run_s=given.run, seconds=given.seconds,
            cost_s=given.cost_ms / 1000, period_s=given.period, per_minute=given.per_minute,
        )  # fmt: skip
        print(json.dumps(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
