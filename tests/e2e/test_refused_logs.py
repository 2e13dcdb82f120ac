"""No command goes on with a log that `verify` refuses: it would make head and note anew over what is missing."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.world import good_script, intake, reply, submit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.world import World

Damage = "Callable[[World], None]"
ASKS = {"intake": [reply(submit(intake(identified_ambiguities=["what of umlauts?"])))]}


def cut(world: World, records: int = 2) -> None:
    """Take the last records away; the chain of the rest holds."""
    path = world.folder / "events.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-records]))


def cut_in_a_line(world: World) -> None:
    """Leave half of a record, as a write that never ended."""
    path = world.folder / "events.jsonl"
    path.write_bytes(path.read_bytes()[:-300])


def rewritten(world: World) -> None:
    """Alter a record and make all hashes behind it right again; the log is not shorter."""
    path = world.folder / "events.jsonl"
    head, lines = "0" * 64, []
    for line in path.read_bytes().splitlines():
        record = json.loads(line)
        if record["type"] == "RunStarted":
            record["data"]["request"] += "!"
        body = {key: value for key, value in record.items() if key != "hash"} | {"prev": head}
        head = hashlib.sha256(head.encode() + _canonical(body)).hexdigest()
        lines.append(_canonical({**body, "hash": head}) + b"\n")
    path.write_bytes(b"".join(lines))


def cut_after_a_kill(world: World) -> None:
    """The lease says that the writer died, and nothing of how long the log was."""
    path = world.folder / "lease"
    value = json.loads(path.read_bytes()) | {"released": False, "left": "", "boot_id": "an earlier one"}
    value.pop("digest")
    path.write_bytes(_canonical({**value, "digest": hashlib.sha256(_canonical(value)).hexdigest()}) + b"\n")
    cut(world)


def cut_without_head_file(world: World) -> None:
    """Only git has seen how long the log was."""
    shutil.rmtree(world.home / "af" / "data" / "heads")
    cut_after_a_kill(world)


ANY = [cut, cut_in_a_line, rewritten, cut_after_a_kill]


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _content(folder: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: data for name, data in found.items() if name != "lease"}


def _refused(world: World, command: tuple[str, ...]) -> None:
    task = world.task
    before = _content(world.folder)
    assert world.run("verify", task).code == 9
    for _ in range(2):  # the refusal itself must not cover anything up
        done = world.run(*(word.replace("TASK", task) for word in command))
        assert done.code == 9, (command, done.out, done.err)
    assert _content(world.repo / ".agentforge" / "tasks" / task) == before
    assert world.run("verify", task).code == 9


@pytest.fixture(scope="module")
def delivered(tmp_path_factory: pytest.TempPathFactory, pycache: Path) -> World:
    """A delivered task that was marked once."""
    from tests.support.world import make_world

    place = tmp_path_factory.mktemp("refused").resolve()
    world = make_world(place / "repo", place / "home", pycache=pycache)
    assert world.start(good_script()).code == 0
    assert world.run("mark", world.task, "defect").code == 0
    assert world.run("verify", world.task).code == 0
    return world


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory, pycache: Path) -> World:
    """A task that stopped at a limit, in the middle of its work."""
    from tests.support.world import make_world

    place = tmp_path_factory.mktemp("asking").resolve()
    world = make_world(place / "repo", place / "home", pycache=pycache)
    assert world.start(None, "--max-steps", "3").code == 6
    assert world.run("verify", world.task).code == 0
    return world


@pytest.fixture
def put_back(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[World], None]:
    """Remember a world's folder and head files, and put them back at the end."""

    def keep(world: World) -> None:
        task, heads = world.folder, world.home / "af" / "data" / "heads"
        shutil.copytree(task, tmp_path / "task", symlinks=True)
        shutil.copytree(heads, tmp_path / "heads")

        def back() -> None:
            for place, kept in ((task, tmp_path / "task"), (heads, tmp_path / "heads")):
                shutil.rmtree(place, ignore_errors=True)
                shutil.copytree(kept, place, symlinks=True)

        request.addfinalizer(back)

    return keep


@pytest.mark.parametrize("damage", [*ANY, cut_without_head_file], ids=lambda damage: damage.__name__)
@pytest.mark.parametrize(
    "command", [("mark", "TASK", "rework"), ("fork", "TASK"), ("resume", "TASK")], ids=lambda c: c[0]
)
def test_nobody_writes_to_a_delivered_log_that_was_damaged(delivered: World, put_back, damage, command) -> None:
    put_back(delivered)
    damage(delivered)
    _refused(delivered, command)


@pytest.mark.parametrize("damage", ANY, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize(
    "command",
    [("resume", "TASK", "--max-steps", "50"), ("abort", "TASK"), ("fork", "TASK"), ("resolve", "TASK.E1", "--approve")],
    ids=lambda c: c[0],
)
def test_nobody_writes_to_a_log_under_way_that_was_damaged(asking: World, put_back, damage, command) -> None:
    put_back(asking)
    damage(asking)
    if command[0] == "resolve" and damage is not rewritten:
        pytest.skip("the question was cut off, so there is nothing to answer")
    _refused(asking, command)


def test_a_task_of_the_same_name_as_one_that_was_deleted_is_not_held_to_its_head(world: World) -> None:
    assert world.start(None, "--max-steps", "3").code == 6
    task = world.task
    shutil.rmtree(world.folder)
    (world.folder.parent if False else world.repo / ".agentforge" / "tasks").mkdir(exist_ok=True)
    assert world.start(None, "--max-steps", "1").code == 6
    assert world.task == task
    assert world.run("verify", task).code == 0
    assert world.run("resume", task, "--max-steps", "50").code == 0


def test_readers_name_what_they_cannot_read_by_their_exit_code(world: World) -> None:
    assert world.start(None, "--max-steps", "1").code == 6
    begun = world.task
    empty = world.folder.parent / "task-20260101-empty"
    empty.mkdir()
    assert [world.run(name, empty.name).code for name in ("status", "resume", "verify")] == [2, 2, 2]
    assert world.run("metrics").code == 0
    cut(world)
    assert [world.run(*words).code for words in (("metrics",), ("metrics", "--json"), ("replay", begun))] == [9, 9, 9]
    assert world.run("metrics", "--json").json["trust"]["unread"][0]["cause"] == "integrity"
