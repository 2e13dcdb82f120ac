"""The tools of a conversation through the whole engine: trust, plan mode, approval, servers, custom tools, leftovers."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from agentforge.tools.web.browser import chromium
from tests.support.toolchains import missing

if TYPE_CHECKING:
    from tests.support.world import World

_SERVER = Path(__file__).parents[1] / "tools" / "fixtures" / "odd_server.py"
_CUSTOM = """
from agentforge.tools.base import Observation, Tool, takes
TOOL = Tool(name="mark", description="Marks.", parameters=takes(), effect="read",
            run=lambda arguments, context: [(context.root / "marked").write_text("x"), Observation(status="success", summary="m")][1])
"""


def _play(
    world: World, tmp_path: Path, *calls: tuple[str, dict[str, Any]], flags: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Let the scripted model make calls in a session; the results by tool, as the session's file holds them."""
    asked = [{"name": name, "args": args} for name, args in calls]
    script = tmp_path / "chat.yaml"
    script.write_text(
        yaml.safe_dump({"chat": [{"text": "", "tool_calls": [one]} for one in asked] + [{"text": "Done."}]})
    )
    done = world.run("run", "go", "--model", f"scripted/{script}", *(flags or ("--approval", "yolo")))
    assert done.out.endswith("Done.\n"), done.err
    files = sorted(world.home.rglob("sessions/*.json"), key=lambda file: file.stat().st_mtime)
    messages = json.loads(files[-1].read_text())["messages"]
    names = {call["id"]: call["function"]["name"] for one in messages for call in one["tool_calls"] or ()}
    return {names[one["tool_call_id"]]: one["content"] for one in messages if one["role"] == "tool"}


def _settings(world: World, text: str) -> None:
    folder = world.home / "af" / "config"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(text)


def _mcp_json(world: World, *how: str) -> None:
    (world.repo / "odd_server.py").write_text(_SERVER.read_text())
    server = {"command": sys.executable, "args": ["-S", "odd_server.py", *how], "env": {"SERVICE": "${NO_SUCH:-plain}"}}
    (world.repo / ".mcp.json").write_text(json.dumps({"mcpServers": {"odd": server}}))


def test_a_projects_servers_and_tools_are_loaded_only_after_trust(world: World, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    _mcp_json(world)
    (world.repo / ".agentforge" / "tools").mkdir(parents=True)
    (world.repo / ".agentforge" / "tools" / "mark.py").write_text(_CUSTOM)
    calls = (("odd__greet", {"who": {"name": "Ann"}}), ("mark", {}))
    before = _play(world, tmp_path, *calls)
    assert "Tools of this stage" in before["odd__greet"] and "Tools of this stage" in before["mark"]
    assert world.run("trust", "--yes").code == 0
    after = _play(world, tmp_path, *calls)
    assert "Hello Ann" in after["odd__greet"]
    assert (world.repo / "marked").exists()


def test_a_server_runs_in_the_sandbox_and_sees_no_keys(world: World, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    _mcp_json(world)
    world.run("trust", "--yes")
    seen = _play(world, tmp_path, ("odd__env", {}), ("odd__write_file_", {}))
    told = json.loads(seen["odd__env"].split("\n")[1])
    assert told["cwd"] == str(world.repo)
    assert not {name for name in told["env"] if "KEY" in name or "TOKEN" in name}
    assert told["env"]["SERVICE"] == "plain"
    assert told["walls"] == {
        "Seccomp": "2",
        "NoNewPrivs": "1",
        "CapEff": "0" * 16,
    }  # a filter of system calls, no rights
    assert (world.repo / "written.txt").read_text() == "by the server"


def test_a_server_that_is_not_there_is_told_with_its_own_words(world: World, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    _settings(world, "[mcp_servers.dead]\ncommand = 'sh'\nargs = ['-c', 'echo lost its mind >&2; exit 3']\n")
    script = tmp_path / "chat.yaml"
    script.write_text(yaml.safe_dump({"chat": [{"text": "Done."}]}))
    done = world.run("run", "go", "--model", f"scripted/{script}")
    assert done.code == 0 and "note: not loaded: dead: " in done.err and "lost its mind" in done.err
    value = json.loads(world.run("run", "go", "--model", f"scripted/{script}", "--json").out)
    assert "lost its mind" in value["not_loaded"]["dead"]


def test_plan_mode_offers_what_a_server_calls_read_only_and_nothing_else(world: World, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    _mcp_json(world)
    world.run("trust", "--yes")
    flags = ("--mode", "plan", "--approval", "yolo")
    calls = (("odd__greet", {"who": {"name": "Bo"}}), ("odd__act", {}), ("git_status", {}), ("git_commit", {"message": "x"}),
             ("git_branch", {"action": "create", "name": "x"}), ("memory", {"action": "set", "key": "a", "value": "b"}))  # fmt: skip
    seen = _play(world, tmp_path, *calls, flags=flags)
    assert "Hello Bo" in seen["odd__greet"] and "Tools of this stage" in seen["odd__act"]
    assert "Tools of this stage" in seen["git_commit"] and "?? odd_server.py" in seen["git_status"]
    assert "plan mode" in seen["memory"]


def test_the_reference_file_server_works_in_the_sandbox_and_sees_the_workspace_alone(
    world: World, tmp_path: Path
) -> None:
    pytest.importorskip("mcp")
    place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentforge-tests" / "mcp"
    program = place / "node_modules" / "@modelcontextprotocol" / "server-filesystem" / "dist" / "index.js"
    if missing("node") or not program.exists():
        pytest.skip("the reference file server is not installed: scripts/mcp_servers.sh")
    (world.repo / "sub").mkdir()
    settings = {
        "command": shutil.which("node"),
        "args": [str(program), str(world.repo)],
        "read": [str(place)],
        "startup_timeout_sec": 60,
    }
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in settings.items())
    _settings(world, f"[mcp_servers.filesystem]\n{lines}\n")
    named = world.repo / "sub" / "note.txt"
    seen = _play(
        world, tmp_path,
        ("filesystem__write_file", {"path": str(named), "content": "from far"}),
        ("filesystem__read_text_file", {"path": str(world.home / ".bashrc")}),
    )  # fmt: skip
    assert named.read_text() == "from far"
    assert (
        "denied" in seen["filesystem__read_text_file"].lower()
        or "Nothing was executed" in seen["filesystem__read_text_file"]
    )


def test_where_nobody_is_a_server_is_asked_nothing_that_needs_approval(world: World, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    _mcp_json(world)
    world.run("trust", "--yes")
    seen = _play(world, tmp_path, ("odd__greet", {"who": {"name": "Bo"}}), flags=("--approval", "on-request"))
    assert "not approved" in seen["odd__greet"]


def test_allowed_tools_hold_for_servers_too(world: World, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    _mcp_json(world)
    world.run("trust", "--yes")
    _settings(world, 'allowed_tools = ["read_file", "odd__e*"]\n')
    seen = _play(
        world, tmp_path, ("odd__greet", {"who": {"name": "Bo"}}), ("odd__env", {}), ("shell", {"command": "true"})
    )
    assert "Tools of this stage" in seen["odd__greet"] and "Tools of this stage" in seen["shell"]
    assert "cwd" in seen["odd__env"]


def _command_lines() -> Iterator[bytes]:
    """The command lines of all processes; of one that ends meanwhile there is none."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield path.read_bytes()


def test_what_a_command_leaves_running_ends_with_it_and_does_not_hold_it_up(world: World, tmp_path: Path) -> None:
    began = time.monotonic()
    seen = _play(world, tmp_path, ("shell", {"command": "sleep 77.125 & echo started"}))
    assert "started" in seen["shell"]
    assert time.monotonic() - began < 30
    assert not any(b"77.125" in line for line in _command_lines())


def test_a_background_command_outlives_its_call_serves_the_others_and_ends_with_the_session(
    world: World, tmp_path: Path
) -> None:
    serve = 'python3 -u -c \'import socket; s = socket.create_server(("127.0.0.1", 8124)); print("up"); s.accept(); print("met"); s.accept()\''
    meet = "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 8124), 5)'"
    asked: list[dict[str, Any]] = [
        {"name": "shell", "args": {"command": serve, "background": True}},
        {"name": "shell", "args": {"command": meet}},
        {"name": "jobs", "args": {"action": "read", "id": "1", "timeout": 1}},
        {"name": "shell", "args": {"command": "sleep 77.625", "background": True}},
        {"name": "jobs", "args": {"action": "stop", "id": "1"}},
    ]
    script = tmp_path / "chat.yaml"
    chat = [{"text": "", "tool_calls": [one]} for one in asked] + [{"text": "Done."}]
    script.write_text(yaml.safe_dump({"chat": chat}))
    done = world.run(
        "run", "go", "--model", f"scripted/{script}", "--approval", "yolo", "--output-format", "stream-json"
    )
    rows = [json.loads(line) for line in done.out.splitlines()]
    told = [row["message"]["content"][0]["content"] for row in rows if row["type"] == "user"]
    assert "met" in told[2], told
    assert "no new output" in told[4] and "what ran in the background ends" in done.err
    running = list(_command_lines())
    assert not any(b"77.625" in line for line in running)
    events = max(world.home.rglob("events.jsonl"), key=lambda one: one.stat().st_mtime).read_text()
    assert events.count('"BackgroundStarted"') == 2 and events.count('"BackgroundEnded"') == 2
    assert world.run("replay", rows[0]["session_id"]).code == 0


@pytest.mark.skipif(
    not chromium(os.environ) or find_spec("playwright") is None, reason="Chromium or playwright is not installed"
)
def test_the_browser_sees_what_a_background_command_serves_and_nobody_else_does(world: World, tmp_path: Path) -> None:
    (world.repo / "index.html").write_text("<title>Shop</title><body>Served by the session</body>")
    serve = "python3 -u -m http.server --bind 127.0.0.1 8125"
    wait = "for i in $(seq 100); do python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 8125))' && break; sleep 0.05; done 2>/dev/null"
    script = tmp_path / "chat.yaml"
    asked: list[tuple[str, dict[str, Any]]] = [
        ("shell", {"command": serve, "background": True}),
        ("shell", {"command": wait}),
        ("browser", {"action": "open", "url": "http://localhost:8125/"}),
        ("browser", {"action": "text"}),
    ]
    seen = _told(world, script, *asked)
    assert "Shop - http://localhost:8125/" in seen[2] and "Served by the session" in seen[3], seen


def _told(world: World, script: Path, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    """What each call of a session was answered, in order."""
    chat = [{"text": "", "tool_calls": [{"name": name, "args": args}]} for name, args in calls] + [{"text": "Done."}]
    script.write_text(yaml.safe_dump({"chat": chat}))
    done = world.run(
        "run", "go", "--model", f"scripted/{script}", "--approval", "yolo", "--output-format", "stream-json"
    )
    rows = [json.loads(line) for line in done.out.splitlines()]
    return [row["message"]["content"][0]["content"] for row in rows if row["type"] == "user"]


@pytest.mark.parametrize(
    "raw", ['["a"]', "null", "7", '"x"', '{"path": "a', "{'path': 'a'}", '{"path": 1}', "[[[[" * 500]
)
def test_any_arguments_survive(world: World, tmp_path: Path, raw: str) -> None:
    script = tmp_path / "chat.yaml"
    script.write_text(
        yaml.safe_dump({"chat": [{"text": "", "tool_calls": [{"name": "read_file", "raw": raw}]}, {"text": "Done."}]})
    )
    done = world.run("run", "go", "--model", f"scripted/{script}")
    assert (done.code, done.out) == (0, "Done.\n"), done.err


def test_todos_outlive_the_session(world: World, tmp_path: Path) -> None:
    _play(world, tmp_path, ("todos", {"action": "add", "content": "write it"}))
    file = max(world.home.rglob("sessions/*.json"), key=lambda one: one.stat().st_mtime)
    assert json.loads(file.read_text())["todos"] == {"1": "write it"}


def test_paths_are_judged_by_where_they_really_lead_also_from_a_linked_folder(world: World, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (world.repo / "link").symlink_to(outside)
    entry = tmp_path / "entry"
    entry.symlink_to(world.repo)
    calls = [
        {"name": "write_file", "args": {"path": path, "content": "x"}}
        for path in ("../up.txt", "link/in.txt", "ok.txt")
    ]
    script = tmp_path / "chat.yaml"
    script.write_text(yaml.safe_dump({"chat": [{"text": "", "tool_calls": calls}, {"text": "Done."}]}))
    done = world.run("run", "go", "--model", f"scripted/{script}", "--approval", "yolo", cwd=entry)
    assert done.out.endswith("Done.\n"), done.err
    assert (world.repo / "ok.txt").exists()
    assert not (world.repo.parent / "up.txt").exists() and not list(outside.iterdir())


def test_the_first_request_with_all_built_in_tools_stays_small(world: World, tmp_path: Path) -> None:
    _play(world, tmp_path)
    lines = [line for file in world.home.rglob("events.jsonl") for line in file.read_text().splitlines()]
    found = [int(size) for line in lines for size in re.findall(r'"context_tokens": ?(\d+)', line)]
    assert found and max(found) < 3000


def test_a_tool_that_is_seldom_called_is_found_and_can_be_called_unseen(world: World, tmp_path: Path) -> None:
    seen = _play(world, tmp_path, ("git_status", {}), ("tool_search", {"query": "log of commits"}), ("git_log", {}))
    assert "git_log takes: revision" in seen["tool_search"] and "main" in seen["git_status"] and seen["git_log"].strip()
    lines = [line for file in world.home.rglob("events.jsonl") for line in file.read_text().splitlines()]
    assert sum('"found_tools"' in line and "git_log" in line for line in lines) >= 1


def test_a_command_that_wants_to_commit_is_told_what_commits(world: World, tmp_path: Path) -> None:
    command = {"command": "echo x > new.txt && git add new.txt"}
    seen = _play(world, tmp_path, ("shell", command), ("git_commit", {"message": "Add it", "paths": ["new.txt"]}))
    assert "Read-only file system" in seen["shell"] and "git_commit stages and commits" in seen["shell"]
    script = tmp_path / "chat.yaml"
    done = world.run("run", "go", "--model", f"scripted/{script}", "--approval", "never", "--json")
    assert "commit with git_commit" in json.loads(done.out)["permission_denials"][0]["reason"]
