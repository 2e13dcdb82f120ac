"""A folder, a home and a chat for the tests of what users of the older harness expect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentforge.app.sessions.chat import Chat, ChatOptions
from agentforge.app.sessions.person import Nobody
from agentforge.config.settings import load

Play = Callable[..., list[str]]
Open = Callable[..., Chat]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home; settings lie in `.config/agentforge` below it."""
    folder = tmp_path / "home"
    (folder / ".config" / "agentforge").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    for name in ("AGENTFORGE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "OPENAI_API_KEY": "x"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def config(home: Path) -> Callable[[str], Path]:
    """Write the user's settings."""

    def write(text: str) -> Path:
        file = home / ".config" / "agentforge" / "config.toml"
        file.write_text(text)
        return file

    return write


@pytest.fixture
def open_chat(folder: Path, environ: dict[str, str], tmp_path: Path) -> Iterator[Open]:
    opened: list[Chat] = []

    def begin(*replies: dict[str, Any], **options: Any) -> Chat:
        if replies:
            script = tmp_path / f"chat{len(opened)}.yaml"
            script.write_text(yaml.safe_dump({"chat": list(replies)}))
            options["model"] = f"scripted/{script}"
        settings = load(folder, environ)
        chat = Chat.open(ChatOptions(cwd=folder, **options), Nobody(), settings=settings, environ=environ)
        opened.append(chat)
        return chat

    yield begin
    for chat in opened:
        chat.close()


@pytest.fixture
def play(open_chat: Open) -> Play:
    """Let the model make calls, one in each reply, with everything allowed; what it is told, in order."""

    def run(*calls: tuple[str, dict[str, Any]], approval: str = "yolo", **options: Any) -> list[str]:
        replies = [{"text": "", "tool_calls": [{"name": name, "args": args}]} for name, args in calls]
        chat = open_chat(*replies, {"text": "Done."}, approval=approval, **options)
        assert chat.say("go").text == "Done."
        return [entry.text for entry in chat.state.talk.entries if entry.kind == "tool"]

    return run
