"""/start, /status, /resolve from within a conversation, with a real task behind them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentforge.app.sessions.chat import Chat, ChatOptions
from agentforge.app.sessions.person import Nobody
from agentforge.app.slash import run_slash
from agentforge.config.settings import load


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    home = str(tmp_path / "home")
    environ = {"HOME": home, "AGENTFORGE_HOME": home}
    monkeypatch.setenv("AGENTFORGE_HOME", home)
    folder = tmp_path / "project"
    folder.mkdir()
    for line in ("init -q", "-c user.name=a -c user.email=a@example.org commit -q --allow-empty -m base"):
        subprocess.run(["git", *line.split()], cwd=folder, check=True)
    options = ChatOptions(cwd=folder, model="scripted/nowhere.yaml")
    with Chat.open(options, Nobody(), settings=load(folder, environ), environ=environ) as opened:
        yield opened


def test_a_task_that_cannot_begin_says_why(chat: Chat) -> None:
    assert run_slash(chat, "/start add a function").ok
    (job,) = chat.jobs
    job.process.wait(60)
    line = job.look()
    assert line.outcome == "failed"
    assert "nowhere.yaml" in line.error


def test_without_tasks_nothing_is_listed_and_nothing_waits(chat: Chat) -> None:
    assert "No tasks yet" in run_slash(chat, "/status").text
    assert run_slash(chat, "/tasks").data["tasks"] == []
    assert run_slash(chat, "/resolve").text == "Nothing waits for you."


@pytest.mark.parametrize(
    "line", ["/start", "/resolve x.E1 maybe", "/resolve x.E1 reject", "/resolve x.E1 approve", "/status no"]
)
def test_a_wrong_line_is_answered_not_raised(chat: Chat, line: str) -> None:
    reply = run_slash(chat, line)
    assert not reply.ok
    assert reply.text
    assert chat.jobs == []
