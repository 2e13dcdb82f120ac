"""The disk is full, the clock goes backwards, a record is torn or altered: nothing acknowledged is lost, nothing is invented."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.world import REQUEST, good_script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.world import World

_CLOCK = """
import sys
import agentforge.store.log.records as clock
clock.utc_now = lambda: "2001-01-01T00:00:00.000000Z"
from agentforge.cli.startup.entry import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def small_disk(world: World) -> Iterator[Path]:
    """A file system of 200 KB where the runs of the repository live."""
    folder = world.repo / ".agentforge"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_told_and_resume_goes_on_when_there_is_space(world: World, small_disk: Path) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 120_000)
    done = world.start()
    assert (done.code, done.json["error"]["slug"]) == (7, "storage"), done.out + done.err
    assert "No space left" in done.json["error"]["message"]
    assert "Traceback" not in done.err
    kept = [record["data"]["step"] for record in world.events("StepFinished")]
    filler.unlink()
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    resumed = world.run("resume", world.task, "--json")
    assert (resumed.code, resumed.json["outcome"]) == (0, "delivered"), resumed.out + resumed.err
    assert [record["data"]["step"] for record in world.events("StepFinished")] == [1, 3, 4, 5, 6]
    assert kept == sorted(set(kept))


@pytest.mark.parametrize("limit", [2_500, 9_000, 20_000])
def test_a_log_that_may_not_grow_is_a_storage_error(world: World, limit: int) -> None:
    model = world.model()
    process = subprocess.run(
        [sys.executable, "-m", "agentforge", "start", REQUEST, "--model", model, "--json"],
        cwd=world.repo,
        env=world.env,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert process.returncode == 7, process.stdout + process.stderr
    assert json.loads(process.stdout)["error"]["slug"] in ("storage", "toolchain")
    assert b"Traceback" not in process.stderr
    resumed = world.run("resume", world.task, "--json")
    assert (resumed.code, resumed.json["outcome"]) == (0, "delivered"), resumed.out + resumed.err


def test_a_clock_that_was_set_back_never_goes_back_in_the_log(world: World) -> None:
    assert world.start(None, "--max-steps", "2").code == 6
    done = subprocess.run(
        [sys.executable, "-c", _CLOCK, "resume", world.task, "--max-steps", "50", "--json"],
        cwd=world.repo,
        env=world.env,
        capture_output=True,
    )
    assert json.loads(done.stdout)["outcome"] == "delivered", done.stdout + done.stderr
    times = [record["at"] for record in world.events()]
    assert times == sorted(times)
    assert world.run("status", world.task, "--json").json["duration_s"] >= 0


def test_a_clock_a_hundred_years_ahead_stops_nothing_nor_does_it_when_it_is_put_right(world: World) -> None:
    ahead = _CLOCK.replace("2001-01-01", "2126-01-01")
    done = subprocess.run(
        [sys.executable, "-c", ahead, "start", REQUEST, "--model", world.model(), "--max-steps", "2", "--json"],
        cwd=world.repo,
        env=world.env,
        capture_output=True,
    )
    assert done.returncode == 6, done.stdout + done.stderr
    resumed = world.run("resume", world.task, "--max-steps", "50", "--json")
    assert resumed.json["outcome"] == "delivered", resumed.out + resumed.err
    for words in (("verify", world.task), ("metrics",), ("mark", world.task, "defect"), ("verify", world.task)):
        assert (told := world.run(*words)).code == 0, told.out + told.err


def test_a_torn_tail_is_set_aside_and_told(world: World) -> None:
    assert world.start(None, "--max-steps", "2").code == 6
    with (world.folder / "events.jsonl").open("ab") as file:
        file.write(b'{"seq": 99, "torn')
    done = world.run("resume", world.task, "--max-steps", "50", "--json")
    assert done.json["outcome"] == "delivered", done.out + done.err
    (recovered,) = world.events("LogRecovered")
    assert recovered["data"]["quarantined_bytes"] == 17
    assert (world.folder / recovered["data"]["quarantine"]).is_file()


def test_an_altered_record_stops_everything_with_nine(world: World) -> None:
    assert world.start(good_script(), "--max-steps", "2").code == 6
    path = world.folder / "events.jsonl"
    text = path.read_text()
    path.write_text(text.replace('"goal":"slugify', '"goal":"Slugify', 1))
    for command in (("resume", world.task), ("status", world.task), ("inspect", world.task)):
        done = world.run(*command, "--json")
        assert done.code == 9, (command, done.out, done.err)


def test_lost_views_and_a_lost_worktree_are_rebuilt(world: World) -> None:
    assert world.start(None, "--max-steps", "4").code == 6
    worktree = world.view("task.yaml")["worktree"]
    shown = (world.folder / "state.yaml").read_text()
    for name in ("task.yaml", "state.yaml", "actions.yaml", "working_memory.yaml", "views.json"):
        (world.folder / name).unlink()
    world.git("worktree", "remove", "--force", worktree)
    resumed = world.run("resume", world.task, "--max-steps", "50", "--json")
    assert resumed.json["outcome"] == "delivered", resumed.out + resumed.err
    assert world.view("task.yaml")["worktree"] == worktree
    assert world.view("actions.yaml")["total_steps"] == 8
    assert "status" in shown
