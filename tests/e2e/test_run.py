"""`agentforge run`: one prompt through the whole engine, with a scripted model and everything else real."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.world import World

_SCRIPT = """\
chat:
- text: I look.
  tool_calls: [{name: read_file, args: {path: textkit.py}}]
- text: I write.
  tool_calls:
  - {name: write_file, args: {path: new.txt, content: "hello"}}
  - {name: shell, args: {command: "cat new.txt"}}
- text: Done.
- text: Again.
"""


def _script(tmp_path: Path) -> str:
    (tmp_path / "chat.yaml").write_text(_SCRIPT)
    return f"scripted/{tmp_path / 'chat.yaml'}"


def test_a_prompt_changes_the_folder_and_is_answered(world: World, tmp_path: Path) -> None:
    done = world.run("run", "do it", "--model", _script(tmp_path), "--approval", "auto")
    assert (done.code, done.out) == (0, "Done.\n"), done.err
    assert (world.repo / "new.txt").read_text() == "hello"


def test_what_would_be_asked_is_refused_where_nobody_is(world: World, tmp_path: Path) -> None:
    done = world.run("run", "do it", "--model", _script(tmp_path), "--approval", "on-request")
    assert not (world.repo / "new.txt").exists()
    assert done.out == "Done.\n"


def test_plan_mode_has_no_tools_that_change_anything(world: World, tmp_path: Path) -> None:
    world.run("run", "do it", "--model", _script(tmp_path), "--approval", "yolo", "--mode", "plan")
    assert not (world.repo / "new.txt").exists()


def test_a_session_goes_on_where_it_was(world: World, tmp_path: Path) -> None:
    model = _script(tmp_path)
    world.run("run", "do it", "--model", model, "--approval", "auto")
    data = next(world.home.rglob("runs"))
    session = next(data.iterdir()).name
    again = world.run("run", "and now", "--model", model, "--resume", session[:8])
    assert again.out == "Again.\n", again.err
    snapshot = json.loads((data.parent / "sessions" / f"{session}.json").read_text())
    assert [one["content"] for one in snapshot["messages"] if one["role"] == "user"] == ["do it", "and now"]


def test_what_is_not_trusted_is_left_out_and_said(world: World, tmp_path: Path) -> None:
    (world.repo / "AGENTS.md").write_text("Say please.\n")
    done = world.run("run", "do it", "--model", _script(tmp_path), "--mode", "plan")
    left_out = [line for line in done.err.splitlines() if "left out" in line]
    assert len(left_out) == 1 and "AGENTS.md" in left_out[0] and "`agentforge trust`" in left_out[0]
    told = world.run("run", "do it", "--model", _script(tmp_path), "--mode", "plan", "--json")
    assert json.loads(told.out)["left_out"] == ["AGENTS.md"]
    world.run("trust", "--yes")
    done = world.run("run", "do it", "--model", _script(tmp_path), "--mode", "plan")
    assert "left out" not in done.err
