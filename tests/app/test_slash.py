"""Slash commands: found by file, carried out on a chat, wrong lines answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentforge.app.chat import Chat, ChatOptions
from agentforge.app.person import Nobody
from agentforge.app.slash import commands, run_slash
from agentforge.config.settings import load


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
