"""Slash commands: found by file, carried out on a chat, wrong lines answered."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentforge.app.sessions.chat import Chat, ChatOptions
from agentforge.app.sessions.person import Nobody
from agentforge.app.setup.session_diagnostics import Check
from agentforge.app.slash import commands, config, run_slash
from agentforge.config.settings import load
from agentforge.config.trust import grant, trusted


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    environ = {"HOME": str(tmp_path / "home"), "AGENTFORGE_HOME": str(tmp_path / "home")}
    folder = tmp_path / "project"
    folder.mkdir()
    with Chat.open(ChatOptions(cwd=folder), Nobody(), settings=load(folder, environ), environ=environ) as opened:
        yield opened


def test_every_command_is_listed_by_help(chat: Chat) -> None:
    text = run_slash(chat, "/help").text
    assert all(f"/{command.name}" in text for command in commands().values())


def test_an_unknown_command_is_answered_with_the_nearest(chat: Chat) -> None:
    reply = run_slash(chat, "/buidl")
    assert (reply.ok, "did you mean /build?" in reply.text) == (False, True)


def test_names_that_people_know_from_elsewhere_lead_to_the_same_commands() -> None:
    known = {"rewind": "restore", "bashes": "jobs", "usage": "stats", "rename": "name", "permissions": "approval"}
    assert {alias: commands()[alias].name for alias in known} == known


def test_modes_are_switched_and_kept_in_the_log(chat: Chat) -> None:
    run_slash(chat, "/plan")
    run_slash(chat, "/approval yolo")
    assert dict(chat.state.talk.settings) == {"work_mode": "plan", "approval": "yolo"}
    assert chat.workshop.policy().mode == "yolo"
    assert "shell" not in chat.workshop.tools()


def test_a_mode_that_does_not_exist_changes_nothing(chat: Chat) -> None:
    reply = run_slash(chat, "/approval sometimes")
    assert (reply.ok, "on-request" in reply.text) == (False, True)
    assert not chat.state.talk.settings


def test_tools_are_listed_with_where_they_come_from(chat: Chat) -> None:
    reply = run_slash(chat, "/tools")
    assert "`read_file`" in reply.text and "`git_status`" not in reply.text
    assert {"name", "description", "from"} == set(reply.data["tools"][0])  # type: ignore[index]


def test_a_custom_tool_and_a_broken_one_are_told(chat: Chat) -> None:
    folder = chat.options.cwd.parent / "home" / "config" / "tools"
    folder.mkdir(parents=True)
    (folder / "bad.py").write_text("1 / 0")
    text = run_slash(chat, "/tools").text
    assert "bad.py" in text and "ZeroDivisionError" in text


def test_mcp_says_that_there_are_none_and_what_is_wrong_with_a_line(chat: Chat) -> None:
    assert "There are no MCP servers" in run_slash(chat, "/mcp").text
    (chat.options.cwd / ".mcp.json").write_text('{"mcpServers": {"a": {"command": "x"}}}')
    del chat.workshop.shed
    assert "not trusted" in run_slash(chat, "/mcp").text
    assert run_slash(chat, "/mcp dance a").ok is False
    assert run_slash(chat, "/mcp restart a").ok is False


def test_a_broken_mcp_json_is_named(chat: Chat) -> None:
    (chat.options.cwd / ".mcp.json").write_text('{"mcpServers": [')
    assert ".mcp.json cannot be read" in run_slash(chat, "/mcp").text


def test_a_server_is_dealt_with_from_the_conversation(chat: Chat) -> None:
    pytest.importorskip("mcp")
    server = Path(__file__).parents[1] / "tools" / "fixtures" / "odd_server.py"
    (chat.options.cwd / "odd_server.py").write_text(server.read_text())
    named = {"mcpServers": {"odd": {"command": sys.executable, "args": ["-S", "odd_server.py"]}}}
    (chat.options.cwd / ".mcp.json").write_text(json.dumps(named))
    grant(trusted(chat.options.cwd, chat.workshop.environ), chat.workshop.environ, now="2026-01-01T00:00:00Z")
    assert "odd__greet" in run_slash(chat, "/tools").text
    assert "odd (" in run_slash(chat, "/mcp").text and "connected" in run_slash(chat, "/mcp").text
    assert "memo://today" in run_slash(chat, "/mcp resources odd").text
    assert run_slash(chat, "/mcp read odd memo://today").text == "what is written there"
    said = run_slash(chat, "/mcp prompt odd review what='it all'")
    assert (said.action, said.prompt) == ("say", "Review it all.")
    said = run_slash(chat, "/mcp__odd__review 'it all'")
    assert (said.action, said.prompt) == ("say", "Review it all.")
    assert run_slash(chat, "/mcp__odd__review what=tests").prompt == "Review tests."
    assert "the prompt needs what" in run_slash(chat, "/mcp__odd__review").text
    assert "one word too many" in run_slash(chat, "/mcp__odd__review a b").text
    assert "did you mean /mcp__odd__review" in run_slash(chat, "/mcp__odd__revieuw").text
    assert "/mcp__odd__review what` Reviews. (odd)" in run_slash(chat, "/help").text
    assert run_slash(chat, "/mcp restart odd").ok and run_slash(chat, "/mcp accept odd").ok
    assert not run_slash(chat, "/mcp prompt odd").ok and not run_slash(chat, "/mcp read odd 'x").ok


def test_a_server_that_cannot_list_its_resources_still_shows_its_tools(chat: Chat) -> None:
    pytest.importorskip("mcp")
    server = Path(__file__).parents[1] / "tools" / "fixtures" / "odd_server.py"
    (chat.options.cwd / "odd_server.py").write_text(server.read_text())
    odd = {"command": sys.executable, "args": ["-S", "odd_server.py", "lists nothing"]}
    (chat.options.cwd / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"odd": odd, "none": {"command": "nowhere"}}})
    )
    grant(trusted(chat.options.cwd, chat.workshop.environ), chat.workshop.environ, now="2026-01-01T00:00:00Z")
    listed = run_slash(chat, "/mcp")
    assert [choice.about for choice in listed.choices] == ["not started yet"] * 4
    offered = run_slash(chat, "/mcp resources odd")
    assert offered.ok and "odd__greet" in offered.data["tools"]  # type: ignore[operator]
    assert offered.text.count("Method not found") == 1
    refused = run_slash(chat, "/mcp resources none")
    assert not refused.ok and refused.text.count("nowhere") == 1


def test_the_private_repository_of_snapshots_is_no_place_to_commit_to(chat: Chat) -> None:
    assert chat.workshop.git is not None
    assert chat.workshop.shed.repository is None


def test_the_doctor_knows_the_model_of_the_session(chat: Chat) -> None:
    missing = Check(name="model", status="warning", message="no model is configured", detail="set one")
    assert config._of_session(chat, missing) == missing
    chat.change(model="scripted/x.yaml")
    found = config._of_session(chat, missing)
    assert (found.status, found.message.split(",")[0]) == ("ok", "scripted/x.yaml")
