"""Slash commands for model, provider, settings and the doctor, on a real chat."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from agentforge.app.sessions.chat import Chat, ChatOptions
from agentforge.app.sessions.person import Nobody
from agentforge.app.slash import run_slash
from agentforge.config.settings import load

Reopen = Callable[[], Chat]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "AGENTFORGE_HOME": str(tmp_path / "home"), "OPENAI_API_KEY": "x"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def chat(folder: Path, environ: dict[str, str]) -> Iterator[Chat]:
    with Chat.open(ChatOptions(cwd=folder), Nobody(), settings=load(folder, environ), environ=environ) as opened:
        yield opened


def test_the_model_is_shown_and_switched(chat: Chat) -> None:
    assert run_slash(chat, "/model").data["model"] == "openai/gpt-5.5"
    assert run_slash(chat, "/model gpt-5-mini").data["model"] == "openai/gpt-5-mini"
    assert run_slash(chat, "/model custom/some").ok is False  # no address is known
    assert chat.workshop.model().name == "openai/gpt-5-mini"


def test_a_server_of_ones_own_is_asked_for_its_models(chat: Chat) -> None:
    class Models(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"data": [{"id": "large"}, {"id": "small"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Models) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        run_slash(chat, f"/provider custom http://127.0.0.1:{server.server_address[1]}/v1 large")
        offered = run_slash(chat, "/model")
        listed = run_slash(chat, "/models")
        server.shutdown()
    assert [(one.label, one.about, one.current) for one in offered.choices] == [
        ("large", "", True),
        ("small", "", False),
    ]
    assert listed.data["models"] == ["large", "small"]
    assert run_slash(chat, "/model").choices == ()  # nobody answers there any more


def test_models_come_in_pages(chat: Chat) -> None:
    first = run_slash(chat, "/models --limit 2")
    second = run_slash(chat, "/models --limit 2 --page 2")
    assert len(first.data["models"]) == len(second.data["models"]) == 2  # type: ignore[arg-type]
    assert first.data["models"] != second.data["models"]
    assert run_slash(chat, "/models --page 9999").ok is False
    assert run_slash(chat, "/models --page x").ok is False
    assert run_slash(chat, "/model list --limit 2").data == first.data


def test_a_provider_is_switched_with_its_address_and_kept_for_a_resumed_session(
    chat: Chat, folder: Path, environ: dict[str, str]
) -> None:
    reply = run_slash(chat, "/provider custom http://127.0.0.1:9/v1 local/model")
    assert reply.data == {"provider": "custom", "model": "custom/local/model"}
    run_slash(chat, "/save")  # a session in which nothing was said is kept when that is asked for
    session = chat.session_id
    chat.close()
    options = ChatOptions(cwd=folder, session=session)
    with Chat.open(options, Nobody(), settings=load(folder, environ), environ=environ) as again:
        assert again.workshop.model().name == "custom/local/model"


def test_an_unknown_provider_changes_nothing(chat: Chat) -> None:
    assert run_slash(chat, "/provider nowhere").ok is False
    assert chat.workshop.model().name == "openai/gpt-5.5"


def test_fallbacks_are_edited(chat: Chat) -> None:
    run_slash(chat, "/fallbacks add openai/a openai/b")
    run_slash(chat, "/fallbacks remove openai/a")
    assert run_slash(chat, "/fallbacks").data["fallbacks"] == ["openai/b"]
    assert run_slash(chat, "/fallbacks remove openai/zzz").ok is False
    assert run_slash(chat, "/fallbacks clear").data["fallbacks"] == []
    assert run_slash(chat, "/fallbacks dance").ok is False


def test_settings_are_read_again_and_a_broken_file_keeps_the_old_ones(chat: Chat, environ: dict[str, str]) -> None:
    file = Path(environ["AGENTFORGE_HOME"]) / "config" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("max_turns = 7\n")
    assert run_slash(chat, "/reload").ok
    assert chat.workshop.sizing.rules().max_turns == 7
    file.write_text("max_turnz = 8\n")
    assert run_slash(chat, "/reload").ok is False
    assert chat.workshop.sizing.rules().max_turns == 7
    assert "max_turns" in run_slash(chat, "/config max_").text
