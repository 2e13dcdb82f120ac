"""Kill real runs at random moments, resume them, and say which did not end like the run that nobody killed.

`python -m tests.support.kills.random_kills --points 1000 --record FILE`; what FILE holds already is not tried again, so that a
stopped round goes on where it was. A run is killed again and again, by SIGKILL from outside, after a time that the seed
and the number of the run decide: in the middle of any instruction, of a git call, of a test run. Each kill is a point;
every kill is followed by a resume, which the next kill may hit, and the last resume must reach the same end.
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

from tests.support.kills.ends import End, differences, end_of, not_altered, repeated, script
from tests.support.world import REQUEST, World, children_below, make_world

if TYPE_CHECKING:
    from collections.abc import Iterator

_KILLS = 6
"""At most so often is one run killed."""
_REPLAYED = 4
"""Every n-th run is driven again from its record: a run that was killed replays like any other."""
_REACH = 0.7
"""The longest time to a kill, as a part of the whole run's: most runs are then killed several times before their end."""


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

    def __init__(self, folder: Path, *, pycache: Path | None = None) -> None:
        self._folder = folder
        self._pycache = pycache or folder / "pycache"
        self._made = 0

    def world(self) -> World:
        """Wipe the repository and make it again, with a new home."""
        self._made += 1
        home = self._folder / f"killed-{self._made}"
        return make_world(
            self._folder / "repo", home, pycache=self._pycache, results=self._folder / "results", fresh=True
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


def try_run(number: int, *, seed: int, place: Place, wanted: Golden) -> dict[str, Any]:
    """Kill one run until it ends or was killed often enough, resume it, compare.

    Returns:
        number, problems, and for each kill: at_s (how long its process lived), records (in the log then), step (that was
        interrupted, 0 none).
    """
    chance = random.Random(f"{seed}.{number}")
    world = place.world()
    arguments = ("start", REQUEST, "--model", world.model(script()))
    kills: list[dict[str, float]] = []
    while len(kills) < _KILLS:
        at_s = chance.random() * _REACH * wanted.seconds
        if not _killed_after(world, at_s, *arguments):
            break
        kills.append({"at_s": round(at_s, 4), **_left_by_the_kill(world)})
        if not kills[-1]["records"]:
            break
        arguments = ("resume", world.task)
    problems = list(_problems(world, kills, wanted.end))
    began_once = not kills or kills[-1]["records"]
    if began_once and not problems and number % _REPLAYED == 0:
        replayed = world.run("replay", world.task, "--json")
        problems += [f"replay: {replayed.out[:600]}"] if replayed.code else []
    return {"number": number, "kills": kills, "problems": problems}


def _killed_after(world: World, seconds: float, *arguments: str) -> bool:
    """Whether the process still lived when it was to be killed."""
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
        return process.wait() < 0
    return False


def _left_by_the_kill(world: World) -> dict[str, int]:
    """What the log holds after the kill; no records when nothing was acknowledged."""
    folder = world.repo / ".agentforge" / "tasks"
    logs = list(folder.glob("*/events.jsonl"))
    if not logs or b"\n" not in logs[0].read_bytes():
        return {"records": 0, "step": 0}
    lines = logs[0].read_bytes().split(b"\n")[:-1]
    asked = [json.loads(line)["data"]["step"] for line in lines if b'"type":"ModelCalled"' in line]
    finished = [
        json.loads(line)["data"]["step"]
        for line in lines
        if b'"type":"StepFinished"' in line or b'"type":"ModelFailed"' in line
    ]
    interrupted = asked[-1] if asked and asked[-1] not in finished else 0
    return {"records": len(lines), "step": interrupted}


def _problems(world: World, kills: list[dict[str, float]], end: End) -> Iterator[str]:
    if kills and not kills[-1]["records"]:  # nothing was acknowledged: the same request starts anew
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
    yield from not_altered(world, "at the end")  # nothing was verified between the kills
    for left in kills:
        yield from _unmarked(world, left)
    if shown := world.git("worktree", "prune", "--dry-run"):
        yield shown
    yield from (f"still running: {line}" for line in children_below(world.repo.parent))


def _unmarked(world: World, left: dict[str, float]) -> Iterator[str]:
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
    rows = [row for row in rows if row["seed"] == options.seed]
    before, began = _kills(rows), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="agentforge-chaos-") as folder:
        place = Place(Path(folder).resolve())
        wanted = golden(place)
        while len(_kills(rows)) < options.points:
            number = max((row["number"] for row in rows), default=0) + 1
            rows.append({"seed": options.seed, **try_run(number, seed=options.seed, place=place, wanted=wanted)})
            with options.record.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
            if rows[-1]["problems"] or len(rows) % 20 == 0:
                sys.stderr.write(f"run {number}: {rows[-1]['problems'] or 'all well so far'}\n")
    kills = _kills(rows)
    bad = [row for row in rows if row["problems"]]
    sys.stdout.write(
        f"{len(kills)} kills in {len(rows)} runs, {len({kill['records'] for kill in kills})} different places in the "
        f"log, {sum(1 for kill in kills if kill['step'])} inside a step, {len(bad)} runs with problems; "
        f"{len(kills) - len(before)} of the kills now, in {time.monotonic() - began:.0f} s\n"
    )
    return 1 if bad else 0


def _kills(rows: list[dict[str, Any]]) -> list[dict[str, float]]:
    return [kill for row in rows for kill in row["kills"]]


if __name__ == "__main__":
    sys.exit(main())
