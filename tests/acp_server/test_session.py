"""Prompts of an editor in every mode, without an editor: how they end, what is told, what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("acp")
from agentforge.acp_server.link import Editor
from agentforge.acp_server.session import EditorSession
from agentforge.acp_server.words import Said
from agentforge.app.sessions.chat import ChatOptions
from agentforge.app.sessions.person import Question
from agentforge.config.settings import load
from agentforge.errors import ModelError, UsageError

LOOK = {"text": "Looking.", "tool_calls": [{"name": "read_file", "args": {"path": "a.py"}}]}
Open = Callable[..., EditorSession]


class Told:
    """In the place of the connection: keeps what is sent, answers as it was told."""

    def __init__(self) -> None:
        self.session = ""
        self.updates: list[Any] = []
        self.answer = ""

    def send(self, *updates: Any) -> None:
        self.updates += updates

    def ask(self, call: Any, options: Any) -> str:
        self.asked = (call, options)
        return self.answer

    def close(self) -> None:
        self.closed = True

    @property
    def text(self) -> str:
        return "".join(one.content.text for one in self.updates if one.session_update == "agent_message_chunk")


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens sessions over a script; they are closed at the end."""
    monkeypatch.setenv("AGENTFORGE_HOME", str(tmp_path / "home"))
    environ = {"AGENTFORGE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    sessions: list[EditorSession] = []

    def open_session(*replies: Any, session: str = "", **more: Any) -> EditorSession:
        (tmp_path / "script.yaml").write_text(yaml.safe_dump({"chat": list(replies), "repeat_last": True}))
        model = f"scripted/{tmp_path / 'script.yaml'}"
        options = ChatOptions(cwd=folder, session=session, model=model, **more)
        made = EditorSession(options, Told(), settings=lambda: load(folder, environ), environ=environ)  # type: ignore[arg-type]
        sessions.append(made)
        return made

    yield open_session
    for session in sessions:
        session.close()


def prompt(session: EditorSession, text: str) -> str:
    session.begin()
    return session.worker.submit(session.prompt, Said(text=text)).result()


@pytest.mark.parametrize("mode", ["build", "plan", "swarm"])
def test_a_limit_is_a_stop_reason_in_every_mode(mode: str, opened: Open) -> None:
    session = opened(LOOK, max_turns=2)
    session.set_mode(mode)
    assert prompt(session, "look") == "max_turn_requests"
    assert "(limit: max_turns: 2" in session.link.text


def test_a_budget_of_tokens_is_told_apart(opened: Open) -> None:
    assert prompt(opened(LOOK, limits={"budget_tokens": 1000}), "look") == "max_tokens"


def test_a_failing_model_is_an_error_and_the_session_goes_on(opened: Open) -> None:
    session = opened({"error": {"status": 400, "message": "no"}}, {"text": "there"})
    with pytest.raises(ModelError):
        prompt(session, "hello")
    assert prompt(session, "hello") == "end_turn" and session.link.text == "there"
    with pytest.raises(UsageError, match="empty"):
        prompt(session, "")


def test_a_stop_before_the_first_model_call_counts(opened: Open) -> None:
    session = opened({"text": "never"})
    session.begin()
    session.stop()
    assert session.worker.submit(session.prompt, Said(text="hello")).result() == "cancelled"
    assert session.link.text == ""
    assert prompt(session, "again") == "end_turn"


def test_modes_and_options_outlive_the_session(opened: Open) -> None:
    session = opened({"text": "yes"})
    assert prompt(session, "hello") == "end_turn"  # a session in which nothing was said is not kept
    session.set_mode("task")
    session.set_option("approval", "never")
    session.close()

    again = opened({"text": "yes"}, session=session.chat.session_id)
    assert again.mode == "task"
    now = {option.id: option.current_value for option in again.options()}
    assert now["mode"] == "task" and now["approval"] == "never" and now["model"].startswith("scripted/")
    for option, value in (("approval", "perhaps"), ("size", "1"), ("mode", "dream")):
        with pytest.raises(UsageError):
            again.set_option(option, value)


def test_slash_commands_answer_and_switch_the_mode(opened: Open) -> None:
    session = opened({"text": "yes"})
    assert prompt(session, "/plan") == "end_turn"
    assert session.mode == "plan" and session.link.updates[-1].session_update == "current_mode_update"
    assert prompt(session, "/nonsense") == "end_turn"
    assert "unknown command /nonsense" in session.link.text


def test_questions_of_the_model_are_choices_and_open_ones_wait() -> None:
    told = Told()
    editor = Editor(told)  # type: ignore[arg-type]
    assert editor.ask("What is its name?", ()) is None
    told.answer = "1"
    assert editor.ask("Which?", ("a", "b")) == "b"
    told.answer = "none"
    assert editor.ask("Which?", ("a", "b")) is None
    reply = editor.approve(Question(tool="shell", text="ls", reason="asks"))
    assert reply is not None and reply.decision == "reject"
    assert [option.option_id for option in told.asked[1]] == ["once", "reject"]
