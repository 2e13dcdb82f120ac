"""A session killed at its durable writes goes on at the turn that was cut off: nothing finished is lost, nothing is done twice."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from tests.chaos.conftest import NewWorld
    from tests.support.world import World

_KILLED = Path(__file__).parents[1] / "support" / "kills" / "killed.py"
_MODES = ("torn", "written", "synced")
_SAMPLED = 6
_SCRIPT = {
    "chat": [
        {"text": "I look.", "tool_calls": [{"name": "read_file", "args": {"path": "textkit.py"}}]},
        {
            "tool_calls": [
                {"name": "write_file", "args": {"path": "new.txt", "content": "new\n"}},
                {"name": "append_file", "args": {"path": "log.txt", "content": "once\n"}},
                {"name": "shell", "args": {"command": "echo once >> shell.txt"}},
            ]
        },
        {"text": "Done."},
    ]
}


def test_a_session_killed_at_a_sample_of_its_writes_goes_on(new_world: NewWorld) -> None:
    records = len(_records(_whole(new_world())))
    points = [2 + (records - 2) * number // (_SAMPLED - 1) for number in range(_SAMPLED)]
    failures = [
        f"{point}: {problem}"
        for number, point in enumerate(points)
        for problem in _killed_at(point, _MODES[number % 3], new_world())
    ]
    assert failures == []


@pytest.mark.chaos
@pytest.mark.parametrize("mode", _MODES)
def test_a_session_killed_at_every_write_goes_on(mode: str, new_world: NewWorld) -> None:
    records = len(_records(_whole(new_world())))
    failures = [
        f"{point}: {problem}" for point in range(2, records + 1) for problem in _killed_at(point, mode, new_world())
    ]
    assert failures == []


def _whole(world: World) -> World:
    done = world.run(*_arguments(world))
    assert (done.code, done.out) == (0, "Done.\n"), done.err
    return world


def _killed_at(point: int, mode: str, world: World) -> Iterator[str]:
    """Kill, go on, and say what is not as in a session that nobody killed."""
    process = subprocess.run(
        [sys.executable, str(_KILLED), str(point), mode, *_arguments(world)],
        cwd=world.repo, env=world.env, capture_output=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if process.returncode != -9:
        return
    log = next(world.home.rglob("runs/*/events.jsonl"))
    said = any(record["type"] == "UserSaid" for record in _records(world))
    ended = any(record["type"] == "TurnFinished" for record in _records(world))
    prompt = [] if said else ["do it"]
    done = world.run(
        "run", *prompt, "--resume", log.parent.name, "--approval", "yolo", "--model", _model(world), "--json"
    )
    if ended:
        if done.code != 2:
            yield f"{mode}: an ended turn went on: {done.code} {done.out}"
    elif (done.code, done.json.get("result")) != (0, "Done."):
        yield f"{mode}: {done.code} {done.out} {done.err}"
    yield from (f"{mode}: {problem}" for problem in _differences(world))


def _differences(world: World) -> Iterator[str]:
    for name, wanted in (("new.txt", "new\n"), ("log.txt", "once\n")):
        found = (world.repo / name).read_text() if (world.repo / name).exists() else None
        if found != wanted:
            yield f"{name} holds {found!r}"
    shell = world.repo / "shell.txt"
    if shell.exists() and shell.read_text() != "once\n":
        yield f"the command ran twice: {shell.read_text()!r}"
    records = _records(world)
    if [record["type"] for record in records].count("UserSaid") != 1:
        yield "the prompt was said twice"
    for kind, keys in (("ModelReplied", ("step",)), ("ToolFinished", ("step", "index")), ("StepFinished", ("step",))):
        counted = Counter(tuple(record["data"][key] for key in keys) for record in records if record["type"] == kind)
        yield from (f"{kind} {place} stands {count} times" for place, count in counted.items() if count > 1)


def _records(world: World) -> list[dict[str, Any]]:
    log = next(world.home.rglob("runs/*/events.jsonl"))
    lines = log.read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


def _arguments(world: World) -> list[str]:
    return ["run", "do it", "--approval", "yolo", "--model", _model(world)]


def _model(world: World) -> str:
    path = world.home / "chat.yaml"
    path.write_text(yaml.safe_dump(_SCRIPT))
    return f"scripted/{path}"
