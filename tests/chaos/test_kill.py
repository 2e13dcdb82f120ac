"""A golden run killed at its durable writes and resumed ends like the run that nobody killed."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.kills.ends import differences, end_of, not_altered, repeated, script
from tests.support.world import REQUEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.chaos.conftest import NewWorld
    from tests.support.kills.ends import End
    from tests.support.world import World

_KILLED = Path(__file__).parents[1] / "support" / "kills" / "killed.py"
_MODES = ("torn", "written", "synced")
_SAMPLED = 4
_MOST_KILLS = 25


def test_a_run_killed_at_a_sample_of_its_writes_ends_the_same(golden: tuple[End, int], new_world: NewWorld) -> None:
    end, records = golden
    points = [2 + (records - 2) * number // (_SAMPLED - 1) for number in range(_SAMPLED)]
    failures = [
        f"{point}: {problem}"
        for number, point in enumerate(points)
        for problem in _killed_at(point, _MODES[number % 3], end, new_world(), again=number % 4 == 1)
    ]
    assert failures == []


@pytest.mark.chaos
@pytest.mark.parametrize("mode", _MODES)
def test_a_run_killed_at_every_write_ends_the_same(mode: str, golden: tuple[End, int], new_world: NewWorld) -> None:
    end, records = golden
    failures = [
        f"{point}: {problem}"
        for point in range(2, records + 1)
        for problem in _killed_at(point, mode, end, new_world(), again=point % 3 == 0)
    ]
    assert failures == []


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.chaos) for seed in range(2, 41))])
def test_a_run_killed_again_and_again_is_verified_once_at_its_end(
    seed: int, golden: tuple[End, int], new_world: NewWorld
) -> None:
    end, records = golden
    chance, world = random.Random(seed), new_world()
    arguments: tuple[str, ...] = ("start", REQUEST, "--model", world.model(script()))
    kills = 0
    for _ in range(_MOST_KILLS):  # each on what the kill before it left; nothing looks at the log in between
        if not _kill(world, chance.randint(2, records // 4), chance.choice(_MODES), *arguments):
            break
        kills, arguments = kills + 1, ("resume", world.task)
    assert kills > 1
    assert list(_ended(world, f"{kills} kills", end)) == []


def test_a_run_killed_in_its_first_record_can_be_started_again(new_world: NewWorld) -> None:
    world = new_world()
    _kill(world, 1, "torn", "start", REQUEST, "--model", world.model(script()))
    broken = world.task
    done = world.run("resume", broken, "--json")
    assert (done.code, done.json["error"]["slug"]) == (9, "integrity")
    assert world.run("status", "--json").json[0]["outcome"] == "damaged"
    done = world.start(script())
    assert done.json["outcome"] == "delivered", done.out
    assert done.json["task_id"] != broken


def _killed_at(point: int, mode: str, end: End, world: World, *, again: bool) -> Iterator[str]:
    """Kill, resume (after a second kill), and say in what the end differs."""
    _kill(world, point, mode, "start", REQUEST, "--model", world.model(script()))
    yield from not_altered(world, mode)
    if again:
        _kill(world, 4, mode, "resume", world.task)
    yield from _ended(world, mode, end)


def _ended(world: World, mode: str, end: End) -> Iterator[str]:
    """Resume a run, and say in what its end differs."""
    done = world.run("resume", world.task, "--json")
    if done.code == 8 and done.json["error"]["slug"] == "conflict":  # the last record was already there
        done = world.run("status", world.task, "--json")
    if done.code != 0:
        yield f"{mode}: exit {done.code}: {done.out[-600:]} {done.err}"
        return
    yield from (f"{mode}: {problem}" for problem in (*differences(end_of(world), end), *repeated(world)))
    yield from not_altered(world, f"{mode}, resumed")
    if shown := world.git("worktree", "prune", "--dry-run"):
        yield f"{mode}: {shown}"


def _kill(world: World, point: int, mode: str, *arguments: str) -> bool:
    """Run until the kill point, and say whether it was reached; a run that ends before it is no failure of the run."""
    process = subprocess.run(
        [sys.executable, str(_KILLED), str(point), mode, *arguments], cwd=world.repo, env=world.env, capture_output=True
    )
    assert process.returncode in (-9, 0, 8), process.stderr.decode()
    return process.returncode == -9
