"""Proves, on a real terminal, that a first choice of a model is carried out whole or leaves nothing behind."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agentforge.app.setup.first_choice import offer_of, provider_of
from agentforge.app.setup.setup_run import Setup, set_up
from agentforge.cli.startup.entry import run
from agentforge.errors import ModelAuthError, ModelUnavailable, StorageError, UsageError

ANSWER = {
    "id": "1",
    "model": "qwen-x",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ready"}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 1},
}


class Server:
    """An OpenAI-compatible server on loopback that may want a key."""

    def __init__(self) -> None:
        self.key = ""
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                known = self.path == "/v1/models"
                self.answer(200 if known else 404, {"data": [{"id": "an-embedder"}, {"id": "qwen-x"}]} if known else {})

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.answer(200, ANSWER)

            def answer(self, code: int, value: object) -> None:
                if server.key and self.headers.get("Authorization") != f"Bearer {server.key}":
                    code = 401
                body = json.dumps(value).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.address = f"127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    yield one
    one.close()


def on_a_terminal(*arguments: str, typed: str) -> tuple[int, str]:
    """Run the program on a terminal of its own; what is typed waits in it."""
    ours, its = pty.openpty()
    command = [sys.executable, "-m", "agentforge", *arguments]
    child = subprocess.Popen(command, env={**os.environ, "TERM": "dumb"}, stdin=its, stdout=its, stderr=its)
    os.close(its)
    os.write(ours, typed.encode())
    out = b""
    while True:
        try:
            data = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        out += data
    os.close(ours)
    return child.wait(60), out.decode("utf-8", "replace")


def files(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "af" / "config").rglob("*") if path.is_file())


def test_a_server_that_answers_is_written_down_with_the_model_that_was_chosen(server: Server, home: Path) -> None:
    code, out = on_a_terminal("init", typed=f"3\n{server.address}\n1\n")
    assert code == 0, out
    written = (home / "af" / "config" / "config.toml").read_text()
    assert f'base_url = "http://{server.address}/v1"' in written and 'name = "qwen-x"' in written


def test_an_address_where_nobody_answers_leaves_nothing_behind(home: Path) -> None:
    code, out = on_a_terminal("init", typed="3\n127.0.0.1:9\nq\n")
    assert code == 2 and "could not reach" in out
    assert files(home) == []


def test_a_start_without_a_model_offers_the_ways_and_goes_on_with_the_one_that_was_chosen(
    server: Server, home: Path, tmp_path: Path
) -> None:
    repo = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", str(repo), *author, "commit", "-q", "--allow-empty", "-m", "base"], check=True)
    typed = f"3\n{server.address}\n1\n" + "later\n" * 3  # the limit of one step ends in a question
    code, out = on_a_terminal("start", "add f", "--cwd", str(repo), "--max-steps", "1", typed=typed)
    assert "No model is configured yet" in out and "task-" in out
    assert code != 2 and files(home) == ["config.toml"]


def test_a_server_is_asked_for_its_models_and_says_what_is_wrong(server: Server) -> None:
    assert offer_of(server.address).names == ("qwen-x", "an-embedder")
    assert offer_of(f"http://{server.address}/v1/").base_url == f"http://{server.address}/v1"
    server.key = "secret"
    with pytest.raises(ModelAuthError):
        offer_of(server.address)
    assert offer_of(server.address, key="secret").names
    with pytest.raises(ModelUnavailable):
        offer_of("http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match="not an address"):
        offer_of("ftp://x")
    server.key = ""
    with pytest.raises(UsageError, match="no OpenAI-compatible"):
        offer_of(f"http://{server.address}/other/v1")


def test_a_key_shows_whose_it_is() -> None:
    assert [provider_of(key) for key in ("sk-or-v1-x", "sk-ant-x", "sk-x", "x")] == [
        "openrouter",
        "anthropic",
        "openai",
        "",
    ]


def test_without_a_terminal_nothing_is_half_chosen(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "--provider", "custom", "--model", "m"]) == 2
    assert "--base-url" in capsys.readouterr().err
    assert run(["init", "--provider", "mistral"]) == 2
    assert "--model" in capsys.readouterr().err
    assert files(home) == []
    assert run(["init", "--provider", "custom", "--model", "m", "--base-url", "http://127.0.0.1:1/v1"]) == 0
    assert run(["init", "--provider", "openai"]) == 0  # the address of the other one does not stay
    assert "base_url" not in (home / "af" / "config" / "config.toml").read_text()


def test_a_set_up_that_cannot_be_finished_is_undone(home: Path) -> None:
    environ = {"AGENTFORGE_HOME": str(home / "af"), "HOME": str(home)}
    set_up(Setup(provider="openai", model="first"), environ)
    before = (home / "af" / "config" / "config.toml").read_bytes()
    (home / "af" / "config" / ".env").mkdir()  # where the key would go
    with pytest.raises((StorageError, OSError)):
        set_up(Setup(provider="anthropic", key="sk-ant-x"), environ)
    assert (home / "af" / "config" / "config.toml").read_bytes() == before
