"""A golden run killed at its durable writes and resumed ends like the run that nobody killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from agentforge_ends import differences, end_of, not_altered, repeated, script
from agentforge_world import REQUEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentforge_ends import End
    from agentforge_world import World
    from tests.chaos.conftest import NewWorld

_KILLED = Path(__file__).with_name("killed.py")
_MODES = ("torn", "written", "synced")
_SAMPLED = 4


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


def _kill(world: World, point: int, mode: str, *arguments: str) -> None:
    """Run until the kill point; a run that ends before it is no failure of the run."""
    process = subprocess.run(
        [sys.executable, str(_KILLED), str(point), mode, *arguments], cwd=world.repo, env=world.env, capture_output=True
    )
    assert process.returncode in (-9, 0, 8), process.stderr.decode()
