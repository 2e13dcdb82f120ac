"""Serving MCP: over standard input and output, or over HTTP on this machine with a token."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

from agentforge import __version__
from agentforge.app.composition.listeners import authority, is_loopback, listening, token_of
from agentforge.errors import ToolchainError, UsageError
from agentforge.frozen import dataclass
from agentforge.installation import command_for
from agentforge.mcp_server.ground import Ground

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH = "/mcp"
_GRACE_S = 2
_INSTRUCTIONS = (
    "AgentForge turns a request into a verified branch: `start` begins a task that goes on by itself, `status` follows it, "
    "`escalations` and `resolve` answer what it asks, `verify` checks a delivery from its files alone, `audit` documents it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """How the server listens.

    Attributes:
        host: a loopback address.
        port: 0 = any free one.
        token_file: keeps the token from start to start; None = a new one each time.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token_file: Path | None = None


def serve_stdio(ground: Ground) -> None:
    """Serve until standard input ends.

    Raises:
        ToolchainError: the extra is not installed.
    """
    _server(ground).run("stdio")


def serve_http(ground: Ground, options: HttpOptions, *, ready: Callable[[str, str], None]) -> None:
    """Serve streamable HTTP until the process is asked to stop.

    Args:
        ready: gets the address and the token.
    Raises:
        UsageError: the address cannot be used, or is not of this machine only.
        ToolchainError: the extra is not installed.
    """
    server = _server(ground)
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    if not is_loopback(options.host):
        raise UsageError(f"{options.host} can be reached from other machines", hint="use 127.0.0.1 or ::1")
    token = token_of(options.token_file)
    with listening(options.host, options.port) as listener:
        port = listener.getsockname()[1]
        hosts = sorted({authority(name, port) for name in ("127.0.0.1", "localhost", "::1", options.host)})
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=hosts,
            allowed_origins=[f"http://{host}" for host in hosts],
        )
        inner = server.streamable_http_app(streamable_http_path=PATH, transport_security=security, host=options.host)
        config = uvicorn.Config(
            Guard(inner, token=token), access_log=False, log_config=None, server_header=False, proxy_headers=False,
            timeout_graceful_shutdown=_GRACE_S,
        )  # fmt: skip
        ready(f"http://{authority(options.host, port)}{PATH}", token)
        uvicorn.Server(config).run(sockets=[listener])


class Guard:
    """An ASGI application that lets only requests with the token pass."""

    def __init__(self, inner: Application, *, token: str) -> None:
        self._inner = inner
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and not self._bears_token(scope):
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b"the token is missing or wrong\n"})
            return
        await self._inner(scope, receive, send)

    def _bears_token(self, scope: Scope) -> bool:
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, token = given.partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)


def _server(ground: Ground) -> Any:
    try:
        from agentforge.mcp_server.resources import TaskServer, add_resources
        from agentforge.mcp_server.tools import add_tools
    except ImportError as exc:
        hint = command_for("mcp")
        raise ToolchainError(f"the MCP server cannot run: {exc.name} is missing", hint=hint) from exc
    for name in ("mcp", "httpx2"):  # requests are no news
        logging.getLogger(name).setLevel(logging.ERROR)
    server = TaskServer(ground, version=__version__, instructions=_INSTRUCTIONS)
    add_tools(server, ground)
    add_resources(server, ground)
    return server
