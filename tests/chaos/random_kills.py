"""Kill real runs at random moments, resume them, and say which did not end like the run that nobody killed.

`python tests/chaos/random_kills.py --points 1000 --record FILE`; what FILE holds already is not tried again, so that a
stopped round goes on where it was. The process is killed by SIGKILL from outside at a fraction of the run's length that
the seed and the number of the point decide: in the middle of any instruction, of a git call, of a test run.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    import tests.chaos.conftest  # noqa: F401 - makes the modules below known by their names

from agentforge_ends import End, differences, end_of, repeated, script
from agentforge_world import REQUEST, World, children_below, make_world

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECOND_KILL = 4
"""Every n-th point kills the resumed run, too."""
_REPLAYED = 3
"""Every n-th point is driven again from its record: a run that was killed replays like any other."""
_OVERSHOOT = 1.02


@dataclass(frozen=True, kw_only=True)
class Golden:
    """The run that nobody killed.

    Attributes:
        seconds: how long it took, start of the process included.
    """

    end: End
    seconds: float


class Place:
    """Where the runs take place: the same paths every time, so that a test run of the same tree is done once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made = 0

    def world(self) -> World:
        """Wipe the repository and make it again, with a new home."""
        self._made += 1
        home = self._folder / f"killed-{self._made}"
        return make_world(
            self._folder / "repo", home, pycache=self._folder / "pycache", results=self._folder / "results"
        )


def golden(place: Place) -> Golden:
    """Run once to fill the caches, and once more to see how long it takes."""
    seconds, world = 0.0, None
    for _ in range(2):
        world = place.world()
        began = time.monotonic()
        done = world.start(script())
        seconds = time.monotonic() - began
        assert done.code == 0, done.out + done.err
    assert world is not None
    return Golden(end=end_of(world), seconds=seconds)


def try_point(number: int, *, seed: int, place: Place, wanted: Golden) -> dict[str, Any]:
    """Kill one run, resume it, compare.

    Returns:
        number, at_s (when it was killed), records (in the log then), step (that was interrupted, 0 none), problems.
    """
    chance = random.Random(f"{seed}.{number}")
    world = place.world()
    at_s = chance.random() * _OVERSHOOT * wanted.seconds
    _killed_after(world, at_s, "start", REQUEST, "--model", world.model(script()))
    left = _left_by_the_kill(world)
    if left is not None and number % _SECOND_KILL == 0:
        _killed_after(world, chance.random() * wanted.seconds, "resume", world.task)
    problems = list(_problems(world, left, wanted.end))
    if left is not None and not problems and number % _REPLAYED == 0:
        replayed = world.run("replay", world.task, "--json")
        problems += [f"replay: {replayed.out[:600]}"] if replayed.code else []
    return {"number": number, "at_s": round(at_s, 4), **(left or {"records": 0, "step": 0}), "problems": problems}


def _killed_after(world: World, seconds: float, *arguments: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "agentforge", *arguments],
        cwd=world.repo,
        env=world.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _left_by_the_kill(world: World) -> dict[str, int] | None:
    """What the log holds after the kill; None when the run had not begun."""
    folder = world.repo / ".agentforge" / "tasks"
    logs = list(folder.glob("*/events.jsonl"))
    if not logs or b"\n" not in logs[0].read_bytes():
        return None
    lines = logs[0].read_bytes().split(b"\n")[:-1]
    asked = [json.loads(line)["data"]["step"] for line in lines if b'"type":"ModelCalled"' in line]
    finished = [
        json.loads(line)["data"]["step"]
        for line in lines
        if b'"type":"StepFinished"' in line or b'"type":"ModelFailed"' in line
    ]
    interrupted = asked[-1] if asked and asked[-1] not in finished else 0
    return {"records": len(lines), "step": interrupted}


def _problems(world: World, left: dict[str, int] | None, end: End) -> Iterator[str]:
    if left is None:  # nothing was acknowledged: the same request starts anew
        done = world.start(script())
        if done.code != 0:
            yield f"started again: exit {done.code}: {done.out[-400:]} {done.err[-400:]}"
        return
    done = world.run("resume", world.task, "--json")
    if done.code == 8 and done.json["error"]["slug"] == "conflict":  # it had ended before the kill
        done = world.run("status", world.task, "--json")
    if done.code != 0:
        yield f"exit {done.code}: {done.out[-600:]} {done.err[-400:]}"
        return
    yield from differences(end_of(world), end)
    yield from repeated(world)
    yield from _unmarked(world, left)
    if shown := world.git("worktree", "prune", "--dry-run"):
        yield shown
    yield from (f"still running: {line}" for line in children_below(world.repo.parent))


def _unmarked(world: World, left: dict[str, int]) -> Iterator[str]:
    """The step in which the process died is named by the record of the resumption, and in actions.yaml."""
    if not left["step"]:
        return
    resumed = [record for record in world.events("RunResumed") if record["seq"] > left["records"]]
    if not resumed or resumed[0]["data"]["interrupted_step"] != left["step"]:
        yield f"the resumption does not name step {left['step']} as interrupted"
    rows = [row for row in world.view("actions.yaml")["actions"] if row["step"] == left["step"]]
    if not any(row.get("interrupted") for row in rows):
        yield f"actions.yaml does not mark step {left['step']} as interrupted"


def main() -> int:
    """Try the points that the record does not hold yet; exit code 1 when one of all failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", type=Path, default=Path("build") / "chaos.jsonl")
    options = parser.parse_args()
    options.record.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in options.record.read_text().splitlines()] if options.record.exists() else []
    known = {row["number"] for row in rows if row["seed"] == options.seed}
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="agentforge-chaos-") as folder:
        place = Place(Path(folder).resolve())
        wanted = golden(place)
        for number in (number for number in range(1, options.points + 1) if number not in known):
            row = {"seed": options.seed, **try_point(number, seed=options.seed, place=place, wanted=wanted)}
            rows.append(row)
            with options.record.open("a") as file:
                file.write(json.dumps(row) + "\n")
            if row["problems"] or number % 50 == 0:
                sys.stderr.write(f"point {number}: {row['problems'] or 'all well so far'}\n")
    mine = [row for row in rows if row["seed"] == options.seed and row["number"] <= options.points]
    bad = [row for row in mine if row["problems"]]
    sys.stdout.write(
        f"{len(mine)} points, {len({row['records'] for row in mine})} different places in the log, "
        f"{sum(1 for row in mine if row['step'])} inside a step, {len(bad)} with problems; "
        f"{len(mine) - len(known)} of them now, in {time.monotonic() - began:.0f} s\n"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
