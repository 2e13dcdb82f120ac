"""Proves tools/mcp over HTTP: the library's own server, and one of ours that redirects, refuses, floods and wants a login."""

from __future__ import annotations

import hashlib
import json
import socket
import stat
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import urlopen

import pytest

from agentforge.tools.base import Observation, ToolError
from agentforge.tools.mcp.definitions import Pins
from agentforge.tools.mcp.oauth import Login, Tokens
from agentforge.tools.mcp.servers import Servers
from agentforge.tools.mcp.spec import ServerSpec
from agentforge.tools.mcp.transport import Answers, http_streams

pytest.importorskip("mcp")
Make = Callable[..., Servers]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    opened: list[Servers] = []

    def made(url: str, *, show: Callable[[str], None] | None = None, **headers: str) -> Servers:
        spec = ServerSpec(name="web", url=url, headers=headers, startup_s=10, call_s=5)

        def transport(spec: ServerSpec, show: Callable[[str], None] | None = None) -> Any:
            answers = Answers(spec)
            login = Login(spec, Tokens(tmp_path / "tokens" / "web.json"), show=show)
            return http_streams(spec, login=login, answers=answers), answers

        servers = Servers(
            [spec],
            open_transport=transport,
            open_login=lambda spec: transport(spec, show),
            pins=Pins(tmp_path / "pins"),
        )
        opened.append(servers)
        return servers

    yield made
    for servers in opened:
        servers.close()


def _call(servers: Servers, tool: str, **arguments: object) -> Observation:
    try:
        return servers.call("web", tool, arguments)
    except ToolError as error:
        return error.observation


def test_the_librarys_own_server_is_used_over_streamable_http(make: Make) -> None:
    uvicorn = pytest.importorskip("uvicorn")
    from mcp.server.mcpserver import MCPServer

    served = MCPServer("shop")

    @served.tool()
    def price(item: str, count: int = 1) -> str:
        """Price of an item."""
        return f"{count} x {item} = {count * 3}"

    @served.resource("memo://rules")
    def rules() -> str:
        return "no refunds"

    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(served.streamable_http_app(), log_level="error", lifespan="on", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        servers = make(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp")
        tools = servers.tools()
        assert "web__price" in tools and tools["web__price"].parameters["required"] == ["item"]
        assert _call(servers, "price", item="cake", count=2).text == "2 x cake = 6"
        assert servers.read("web", "memo://rules").text == "no refunds"
        servers.close()
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


class _Shop(BaseHTTPRequestHandler):
    """A server in plain JSON answers; its first path part says how it behaves."""

    protocol_version = "HTTP/1.1"
    seen: list[tuple[str, str]] = []  # noqa: RUF012  # shared by the handlers of one server
    codes: dict[str, str] = {}  # noqa: RUF012

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        how = self.path.split("/")[1]
        self.seen.append((self.path, self.headers.get("Authorization", "")))
        if self.path == "/register":
            return self._json({**json.loads(body), "client_id": "client-1"}, status=201)
        if self.path == "/token":
            return self._token(parse_qs(body.decode()))
        if how == "elsewhere":
            return self._head(307, Location=f"http://localhost:{self.server.server_port}/plain/mcp")  # type: ignore[attr-defined]
        if how == "login" and self.headers.get("Authorization") != "Bearer token-1":
            return self._head(401, **{"WWW-Authenticate": "Bearer"})
        message = json.loads(body)
        if "id" not in message:
            return self._head(202)
        return self._answer(message, how)

    def do_GET(self) -> None:
        base = f"http://127.0.0.1:{self.server.server_port}"  # type: ignore[attr-defined]
        parts = urlsplit(self.path)
        if parts.path.startswith("/.well-known/oauth-protected-resource"):
            return self._json({"resource": f"{base}/login/mcp", "authorization_servers": [base]})
        if parts.path.startswith("/.well-known/oauth-authorization-server"):
            ends = {name: f"{base}/{name.split('_')[0]}" for name in ("token_endpoint",)}
            more = {"authorization_endpoint": f"{base}/authorize", "registration_endpoint": f"{base}/register"}
            return self._json(
                {
                    "issuer": base,
                    **ends,
                    **more,
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                }
            )
        if parts.path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            self.codes["code-1"] = asked["code_challenge"]
            back = urlencode({"code": "code-1", "state": asked["state"]})
            return self._head(302, Location=f"{asked['redirect_uri']}?{back}")
        return self._head(405)

    def do_DELETE(self) -> None:
        self._head(200)

    def _token(self, given: dict[str, list[str]]) -> None:
        proof = urlsafe_b64encode(hashlib.sha256(given["code_verifier"][0].encode()).digest()).rstrip(b"=").decode()
        assert self.codes[given["code"][0]] == proof
        self._json(
            {"access_token": "token-1", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "refresh-1"}
        )

    def _answer(self, message: dict[str, Any], how: str) -> None:
        method = message["method"]
        results = {
            "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"}},
            "tools/list": {"tools": [{"name": "say", "description": "Says.", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": f"heard {self.headers.get('X-Key', '')}"}]},
        }  # fmt: skip
        if method == "tools/call" and how == "floods":
            return self._flood()
        if method == "tools/call" and how == "breaks":
            return self._head(500)
        if method not in results:
            return self._json(
                {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}}
            )
        return self._json({"jsonrpc": "2.0", "id": message["id"], "result": results[method]})

    def _flood(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for _ in range(600):
                self.wfile.write(b" " * 65536)
        except OSError:
            pass
        self.close_connection = True

    def _json(self, value: object, *, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _head(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": "0"}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def shop() -> Iterator[str]:
    _Shop.seen.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Shop)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_headers_go_with_every_request_and_are_masked_in_what_comes_back(make: Make, shop: str) -> None:
    servers = make(f"{shop}/plain/mcp", **{"X-Key": "secret-key-123", "Authorization": "Bearer abcdefgh1"})
    servers.tools()
    seen = _call(servers, "say")
    assert seen.status == "success" and "secret-key-123" not in seen.text and "redacted" in seen.text
    assert {authorization for _, authorization in _Shop.seen} == {"Bearer abcdefgh1"}


def test_a_redirect_to_another_origin_is_not_followed(make: Make, shop: str) -> None:
    servers = make(f"{shop}/elsewhere/mcp", Authorization="Bearer abcdefgh1")
    assert servers.tools() == {}
    assert servers.statuses()[0].state == "failed"
    assert "HTTP 307" in servers.statuses()[0].reason and "abcdefgh1" not in servers.statuses()[0].reason
    assert not [path for path, _ in _Shop.seen if path.startswith("/plain")]


@pytest.mark.parametrize("how", ["floods", "breaks"])
def test_a_server_that_breaks_costs_one_call_and_is_found_again(make: Make, shop: str, how: str) -> None:
    servers = make(f"{shop}/{how}/mcp")
    assert list(servers.tools()) == ["web__say"]
    assert _call(servers, "say").status == "error"
    assert "web__say" in servers.tools()


def test_nobody_there_is_told_with_the_reason(make: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    servers = make(f"http://127.0.0.1:{port}/mcp")
    assert servers.tools() == {}
    assert "connect" in servers.statuses()[0].reason.lower()


def test_a_login_is_asked_for_made_kept_and_used_again(make: Make, shop: str, tmp_path: Path) -> None:
    url = f"{shop}/login/mcp"
    before = make(url)
    assert before.tools() == {}
    assert "/mcp login web" in before.statuses()[0].reason, before.statuses()
    shown: list[str] = []

    def visit(address: str) -> None:
        shown.append(address)
        threading.Thread(target=lambda: urlopen(address).close()).start()

    servers = make(url, show=visit)
    servers.login("web")
    assert "code_challenge=" in shown[0]
    assert _call(servers, "say").status == "success"
    tokens = tmp_path / "tokens" / "web.json"
    assert stat.S_IMODE(tokens.stat().st_mode) == 0o600
    again = make(url)
    assert _call(again, "say").status == "success"
