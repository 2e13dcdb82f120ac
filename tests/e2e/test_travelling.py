"""A run goes on at another machine: two clones, two homes, a bare remote, one machine destroyed in the middle of GREEN."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.world import children_below, own_settings

if TYPE_CHECKING:
    from tests.support.world import World

_PATIENCE_S = 60.0


@pytest.fixture
def remote(world: World, tmp_path: Path) -> Path:
    """A bare repository that the first machine pushes its runs to."""
    bare = tmp_path / "remote.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(world.repo), str(bare)], check=True, env=world.env)
    world.git("remote", "add", "origin", str(bare))
    _settings(world)
    return bare


def _settings(world: World, text: str = '[fleet]\nremote = "origin"\n') -> None:
    own_settings(world.home, f"{text}\n")


def _machine(world: World, remote: Path, place: Path) -> World:
    """Another machine: its own clone, its own home."""
    other = replace(world, repo=place / "repo", home=place / "home", results=None)
    other.home.mkdir(parents=True)
    subprocess.run(["git", "clone", "-q", str(remote), str(other.repo)], check=True, env=other.env)
    _settings(other)
    return other


def _model(world: World, tmp_path: Path) -> str:
    """A model that both machines reach."""
    kept = tmp_path / "script.yaml"
    shutil.copyfile(world.model().removeprefix("scripted/"), kept)
    return f"scripted/{kept}"


def _destroyed_in_green(world: World, model: str) -> None:
    """Start a task, kill its process when GREEN begins to write, and remove everything that this machine had."""
    from tests.support.world import REQUEST

    running = world.begin("start", REQUEST, "--model", model, "--output-format", "stream-json")
    assert running.stdout is not None
    for line in running.stdout:
        if b'"type": "ToolStarted"' in line and b'"stage": "green"' in line:
            break
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    _wait_for_the_last(world)
    shutil.rmtree(world.repo)
    shutil.rmtree(world.home / "af")


def _wait_for_the_last(world: World) -> None:
    """A machine that burns takes everything with it; here git and the box outlive the process by moments, and write on."""
    ends = time.monotonic() + _PATIENCE_S
    while left := children_below(world.repo) + children_below(world.home):
        assert time.monotonic() < ends, left
        time.sleep(0.02)


def test_a_machine_is_destroyed_in_green_and_another_one_delivers(world: World, remote: Path, tmp_path: Path) -> None:
    model = _model(world, tmp_path)
    _destroyed_in_green(world, model)
    there = _machine(world, remote, tmp_path / "there")
    task = there.git("ls-remote", "origin", "refs/agentforge/runs/*").rpartition("/")[2]
    done = there.run("resume", task, "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert "def slugify" in there.git("show", f"agentforge/{there.task}:textkit.py")
    stages = [row["data"]["stage"] for row in there.events("ModelCalled")]
    assert stages.count("green") == 1 and len(stages) == 5, "what had passed is not asked again"
    fences = [row["fence"] for row in there.events()]
    assert fences[0] == 1 and fences[-1] > 1, "the token rose"
    verified = there.run("verify", there.task)
    assert verified.code == 0, verified.out + verified.err

    third = _machine(world, remote, tmp_path / "third")
    (brought,) = third.run("fetch", "--json").json["runs"]
    assert brought["standing"] == "delivered"
    assert third.git("rev-parse", f"agentforge/{third.task}") == there.git("rev-parse", f"agentforge/{there.task}")

    young = there.run("gc", "--remote", "--json")
    assert "s old" in young.json["kept"][0]["reason"]
    planned = there.run("gc", "--remote", "--older-than", "0.01s", "--dry-run", "--json").json["removed"]
    assert "remote" in {row["kind"] for row in planned}
    assert there.run("gc", "--remote", "--older-than", "0.01s").code == 0
    assert there.git("ls-remote", "origin", "refs/agentforge/*") == ""
    assert there.git("ls-remote", "origin", "refs/heads/*").count("\n") == 0, "branches are not touched"
    assert there.run("verify", there.task).code == 0


def test_of_two_machines_that_go_on_the_slower_one_stops(world: World, remote: Path, tmp_path: Path) -> None:
    model = _model(world, tmp_path)
    from tests.support.world import REQUEST

    assert world.run("start", REQUEST, "--model", model, "--max-steps", "2", "--json").code == 6
    there = _machine(world, remote, tmp_path / "there")
    done = there.run("resume", world.task, "--max-steps", "50", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err

    away = remote.with_name("away.git")
    remote.rename(away)  # so that this machine, too, goes on from where both stood
    assert world.run("resume", world.task, "--max-steps", "3", "--json").code == 6
    away.rename(remote)
    before = len(world.events("ModelCalled"))
    late = world.run("resume", world.task, "--max-steps", "50", "--json")
    assert (late.code, late.json["error"]["slug"]) == (8, "locked")
    assert "was continued on another machine" in late.json["error"]["message"]
    assert len(world.events("ModelCalled")) == before, "it stops before it asks its model"
    (brought,) = world.run("fetch", world.task, "--json").json["runs"]
    assert (brought["outcome"], brought["standing"]) == ("replaced", "delivered")
    assert (Path(brought["aside"]) / "events.jsonl").is_file()
    assert world.events() == there.events()
    assert "def slugify" in world.git("show", f"agentforge/{world.task}:textkit.py")
    assert world.run("fetch", world.task, "--json").json["runs"][0]["outcome"] == "ahead"


def test_an_answer_given_at_one_machine_reaches_the_others(world: World, remote: Path, tmp_path: Path) -> None:
    assert world.start(None, "--approve", "spec").code == 3
    there = _machine(world, remote, tmp_path / "there")
    assert there.run("fetch", world.task).code == 0
    answered = there.run("resolve", f"{world.task}.E1", "--approve", "--json")
    assert answered.code == 0, answered.out + answered.err
    late = world.run("resolve", f"{world.task}.E1", "--reject", "no", "--json")
    assert (late.code, late.json["error"]["slug"]) == (8, "locked")
    assert world.events("EscalationResolved") == []
    assert world.run("resume", world.task, "--max-steps", "1", "--json").code == 6
    assert len(world.events("EscalationResolved")) == 1, "the answer of the other machine was brought"
    assert (
        world.run("gc", "--remote", "--older-than", "0.01s", "--json").json["kept"][0]["reason"].endswith("is not over")
    )
    assert world.run("abort", world.task).code == 0
    assert there.run("fetch", world.task, "--json").json["runs"][0]["standing"] == "aborted"


def test_a_remote_that_is_away_stops_nothing_and_gets_the_run_later(world: World, remote: Path, tmp_path: Path) -> None:
    away = remote.with_name("away.git")
    remote.rename(away)
    waiting = world.start(None, "--approve", "spec")
    assert waiting.code == 3, waiting.out + waiting.err
    (lost,) = world.events("RunShared")
    assert lost["data"]["remote"] == "origin" and "does not" in lost["data"]["error"]
    away.rename(remote)
    assert world.run("resolve", f"{world.task}.E1", "--approve").code in (0, 3)
    done = world.run("resume", world.task, "--json") if not world.events("RunFinished") else None
    assert done is None or (done.code, done.json["outcome"]) == (0, "delivered")
    there = _machine(world, remote, tmp_path / "there")
    assert there.run("fetch", "--json").json["runs"][0]["standing"] == "delivered"
    assert there.run("verify", there.task).code == 0


def test_what_is_no_run_is_refused_and_a_remote_that_is_none_is_named(
    world: World, remote: Path, tmp_path: Path
) -> None:
    world.git("push", "-q", "origin", "HEAD:refs/agentforge/runs/task-20260101-planted")
    refused = world.run("fetch", "task-20260101-planted")
    assert (refused.code, "not a part of a run" in refused.err) == (9, True), refused.err
    assert not (world.repo / ".agentforge" / "tasks" / "task-20260101-planted").exists()
    assert world.run("fetch", "--remote", str(remote)).code == 2
    assert world.run("fetch", "task-nowhere").code == 2
    _settings(world, '[fleet]\nremote = "elsewhere"\n')
    done = world.start()
    assert (done.code, done.json["error"]["slug"]) == (2, "usage")
    assert "git remote add elsewhere" in done.json["error"]["hint"]


def test_a_project_may_not_send_runs_away(world: World) -> None:
    world.settings('[fleet]\nremote = "origin"\n')
    done = world.start()
    assert (done.code, "a project may not set fleet.remote" in done.json["error"]["message"]) == (2, True)


def test_a_queued_task_is_driven_by_a_worker_of_another_machine(world: World, remote: Path, tmp_path: Path) -> None:
    from tests.support.world import REQUEST

    wanted = ("--detach", "--approve", "intake", "--model", _model(world, tmp_path), "--json")
    task = world.run("start", REQUEST, *wanted).json["task_id"]
    there = _machine(world, remote, tmp_path / "there")
    command = [sys.executable, "-m", "agentforge.fleet.drive", str(there.repo), task, str(os.getpid())]
    driven = subprocess.run(command, env=there.env, capture_output=True, check=False)
    assert driven.returncode == 3, driven.stderr
    assert [row["stage"] for row in there.run("escalations", "list", "--json").json] == ["intake"]
    answered = world.run("resume", task, "--json")
    assert (answered.code, answered.json["outcome"]) == (3, "escalated"), "what the worker asks is brought here"
