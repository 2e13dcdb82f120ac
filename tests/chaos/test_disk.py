"""The disk is full, or breaks, at a durable write: it is told, nothing acknowledged is lost, and the resumed run ends the same."""

from __future__ import annotations

import json
import os
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

_FAILING = Path(__file__).parents[1] / "support" / "kills" / "failing.py"
_FAULTS = ("full", "broken")
_SAMPLED = 2
_SEED, _FURTHER = 20261122, 20
_MARK = "durable write: "
_STORAGE = 7


@pytest.mark.parametrize("fault", _FAULTS)
def test_a_disk_that_fails_at_a_sample_of_the_writes_loses_nothing(
    fault: str, golden: tuple[End, int], new_world: NewWorld
) -> None:
    count = len(_durable_writes(new_world(), fault))
    points = [1 + count * (2 * number + 1) // (2 * _SAMPLED) for number in range(_SAMPLED)]
    failures = [f"{point}: {told}" for point in points for told in _failed_at(point, fault, golden[0], new_world())]
    assert failures == []


@pytest.mark.chaos
@pytest.mark.parametrize("fault", _FAULTS)
def test_a_disk_that_fails_at_any_write_loses_nothing(fault: str, golden: tuple[End, int], new_world: NewWorld) -> None:
    points = _tried(_durable_writes(new_world(), fault))
    failures = []
    for number, point in enumerate(points, 1):
        failures += [f"{point}: {told}" for told in _failed_at(point, fault, golden[0], new_world())]
        print(f"{fault}: {number} of {len(points)} writes failed, {len(failures)} findings", flush=True)
    assert failures == []


def _tried(places: list[str]) -> list[int]:
    """The first and the last write of every place in the program, and a seeded sample of the rest.

    `WRITES=all` asks for all of them, `WRITES=190-` for those from the 190th on, so that a long run can be taken up again.
    """
    asked = os.environ.get("WRITES", "")
    if asked:
        first = 1 if asked == "all" else int(asked.removesuffix("-"))
        return list(range(first, len(places) + 1))
    numbers: dict[str, list[int]] = {}
    for number, place in enumerate(places, 1):
        numbers.setdefault(place, []).append(number)
    chosen = {number for found in numbers.values() for number in (found[0], found[-1])}
    rest = [number for number in range(1, len(places) + 1) if number not in chosen]
    return sorted(chosen | set(random.Random(_SEED).sample(rest, min(_FURTHER, len(rest)))))


def _failed_at(point: int, fault: str, end: End, world: World) -> Iterator[str]:
    done = _on_disk(world, point, fault)
    if done.returncode not in (0, _STORAGE) or b"Traceback" in done.stderr:
        yield f"{fault}: exit {done.returncode}: {done.stdout[-300:]!r} {done.stderr[-300:]!r}"
        return
    if done.returncode == _STORAGE:
        yield from _told(done.stdout, fault)
    elif b"error[storage]" in done.stderr:
        yield f"{fault}: exit 0 beside an error of the disk: {done.stderr[-300:]!r}"
    logs = list((world.repo / ".agentforge").glob("tasks/*/events.jsonl"))
    if not logs or b"\n" not in logs[0].read_bytes():  # nothing was acknowledged
        return
    yield from not_altered(world, f"{fault}, before it is resumed")
    resumed = world.run("resume", world.task, "--json")
    if resumed.code == 8 and resumed.json["error"]["slug"] == "conflict":
        resumed = world.run("status", world.task, "--json")
    if resumed.code != 0:
        yield f"{fault}: resumed: exit {resumed.code}: {resumed.out[-300:]} {resumed.err[-300:]}"
        return
    yield from differences(end_of(world), end)
    yield from repeated(world)
    yield from not_altered(world, f"{fault}, resumed")


def _told(output: bytes, fault: str) -> Iterator[str]:
    error = json.loads(output)["error"]
    words = {"full": "No space left", "broken": "Input/output error"}[fault]
    if error["slug"] != "storage" or words not in error["message"]:
        yield f"{fault}: told as {error}"


def _durable_writes(world: World, fault: str) -> list[str]:
    """Where each durable write of a run comes from."""
    done = _on_disk(world, 0, fault)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.decode().splitlines()
    return [line.removeprefix(_MARK) for line in lines if line.startswith(_MARK)]


def _on_disk(world: World, point: int, fault: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, str(_FAILING), str(point), fault, "start", REQUEST]
    return subprocess.run(
        [*command, "--model", world.model(script()), "--json"], cwd=world.repo, env=world.env, capture_output=True
    )
