"""A run that was copied, a worktree whose making was cut short, a budget in money: resumed, and nothing is lost."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.loopback.provider import Say
from tests.support.world import REQUEST, good_script, own_settings

if TYPE_CHECKING:
    from tests.support.loopback.provider import Asked, LoopbackProvider
    from tests.support.world import World

_KILLED = Path(__file__).parents[1] / "support" / "kills" / "killed.py"
_PRICED = "custom/gpt-4o-mini"


def _elsewhere(world: World, tmp_path: Path) -> World:
    """Another machine: other paths, another home, another boot."""
    lease = world.folder / "lease"
    value = json.loads(lease.read_bytes())
    lease.write_text(json.dumps({**value, "host": "elsewhere", "boot_id": "another", "pid": 1, "released": False}))
    own_settings(tmp_path / "home-there", "")
    return replace(world, repo=tmp_path / "there" / "repo", home=tmp_path / "home-there", results=None)


@pytest.mark.parametrize("whole", [True, False], ids=["the whole folder", "a clone and the run's folder"])
def test_a_run_copied_to_another_place_goes_on_there(whole: bool, world: World, tmp_path: Path) -> None:
    assert world.start(None, "--max-steps", "4").code == 6
    there = _elsewhere(world, tmp_path)
    if whole:
        shutil.copytree(world.repo, there.repo)
    else:
        subprocess.run(["git", "clone", "-q", str(world.repo), str(there.repo)], check=True, env=world.env)
        shutil.copytree(world.repo / ".agentforge", there.repo / ".agentforge")
    shutil.rmtree(world.repo)
    shutil.rmtree(world.home / "af")
    done = there.run("resume", there.task, "--max-steps", "50", "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert done.json["repo"] == str(there.repo)
    assert [record["data"]["step"] for record in there.events("ModelReplied")] == [1, 3, 4, 5, 6]
    (resumed,) = there.events("RunResumed")
    assert resumed["data"]["repo"] == str(there.repo)
    assert "def slugify" in there.git("show", f"agentforge/{there.task}:textkit.py")
    assert there.run("replay", there.task).code == 0


def test_a_worktree_whose_making_was_cut_short_is_made_again_with_the_writes_of_the_step(world: World) -> None:
    whole = world.start()
    written = next(row["seq"] for row in world.events("ToolFinished") if row["data"]["name"] == "edit")
    tree = world.git("rev-parse", f"agentforge/{whole.json['task_id']}^{{tree}}")
    shutil.rmtree(world.folder)
    world.git("branch", "-D", f"agentforge/{whole.json['task_id']}")
    command = [sys.executable, str(_KILLED), str(written), "synced", "start", REQUEST, "--model", world.model()]
    killed = subprocess.run(command, cwd=world.repo, env=world.env, capture_output=True)
    assert killed.returncode == -9
    worktree = Path(world.events("RunStarted")[0]["data"]["worktree"])
    assert "def slugify" in (worktree / "textkit.py").read_text()
    (worktree / "textkit.py").write_text("half of a checkout")
    (worktree / "tests" / "test_slugify.py").unlink()
    marker = worktree.with_name(f"{worktree.name}.scratch") / "unfinished"
    marker.write_text("")
    done = world.run("resume", world.task, "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert world.git("rev-parse", f"agentforge/{world.task}^{{tree}}") == tree
    assert not marker.exists()
    (resumed,) = world.events("RunResumed")
    assert resumed["data"]["interrupted_step"] == 6
    rows = [row for row in world.view("actions.yaml")["actions"] if row["step"] == 6]
    assert (rows[0]["interrupted"], rows[0]["by"]) == (True, "model")


def test_money_runs_out_and_resume_with_more_goes_on(world: World, loopback: LoopbackProvider) -> None:
    replies = iter([row for stage in good_script().values() for row in stage])

    def answer(_asked: Asked) -> Say:
        calls = tuple((call["name"], json.dumps(call["args"])) for call in next(replies)["tool_calls"])
        return Say(calls=calls, usage=(2000, 100, 1000))

    loopback.answer = answer
    env = {"BASE_URL": f"{loopback.url}/v1", "API_KEY": "sk-none"}
    done = world.run("start", REQUEST, "--model", _PRICED, "--budget-usd", "0.0008", "--json", env=env)
    assert (done.code, done.json["outcome"]) == (6, "paused"), done.out + done.err
    (asked,) = done.json["escalations"]
    assert (asked["kind"], asked["reason"].split(":")[0]) == ("limit", "budget_usd")
    assert 0 < done.json["cost_usd"] <= 0.0008
    assert world.run("resume", world.task, env=env).code == 6
    resumed = world.run("resume", world.task, "--budget-usd", "5", "--json", env=env)
    assert (resumed.code, resumed.json["outcome"]) == (0, "delivered"), resumed.out + resumed.err
    raw = world.run("inspect", world.task, "--step", "1", "--show", "context", "--raw")
    assert json.loads(raw.out) == loopback.asked[0].body
    assert hashlib.sha256(raw.out.encode()).hexdigest() == world.events("ModelReplied")[0]["data"]["sent"]
    cost = world.run("cost", world.task, "--json").json
    assert cost["total"]["cost_usd"] == pytest.approx(resumed.json["cost_usd"])
    assert (cost["total"]["cached_tokens"], cost["total"]["unpriced"], cost["unpriced_models"]) == (5000, 0, [])
    assert [row["model"] for row in cost["by_model"]] == [_PRICED]
