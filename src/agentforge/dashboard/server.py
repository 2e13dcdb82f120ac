"""Serving the dashboard: the socket, the token, and the server around the application.

The queue as the dashboard sees it: looked at again after a while, and after a longer one when it does not answer.

How long a connection may take to say what it wants: who sends a byte now and then holds no connection open.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentforge.app.composition.listeners import authority, is_loopback, listening, token_of
from agentforge.config.paths import home_dir
from agentforge.config.settings import load
from agentforge.dashboard.application import application
from agentforge.dashboard.board import Board
from agentforge.dashboard.children import Children
from agentforge.dashboard.ground import Ground, Repository
from agentforge.dashboard.guard import Door
from agentforge.dashboard.run_index import Readings
from agentforge.errors import ConfigError, ToolchainError, UsageError
from agentforge.fleet import Line, look_at_line
from agentforge.frozen import dataclass
from agentforge.installation import command_for

_GRACE_S = 2
_HTTP_PORT = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """How the dashboard is served.

    Attributes:
        host: address to listen at; beyond loopback only with `allowed_hosts`.
        port: 0 = any free one.
        allowed_hosts: further names under which it may be asked, as a reverse proxy or another machine uses them.
        token_file: keeps the token from start to start; None = a new one each time.
        read_only: nothing can be changed.
        public_metrics: `/metrics` without the token.
    """

    host: str = "127.0.0.1"
    port: int = 0
    allowed_hosts: tuple[str, ...] = ()
    token_file: Path | None = None
    read_only: bool = False
    public_metrics: bool = False


def serve(
    repositories: Callable[[], Sequence[Repository]],
    options: ServeOptions,
    *,
    environ: Mapping[str, str],
    user: str,
    ready: Callable[[str], None],
) -> None:
    """Serve until the process is asked to stop.

    Args:
        repositories: which there are, asked again for every page.
        environ: of the processes that drive tasks.
        ready: gets the address with the token in its fragment, which a browser does not send.
    Raises:
        UsageError: the address cannot be used, or others can read the token file.
        ToolchainError: the extra is not installed.
    """
    try:
        import jinja2  # noqa: F401 # missing at once, not at the first page
        import pygments  # noqa: F401
        import uvicorn
    except ImportError as exc:
        hint = command_for("dashboard")
        raise ToolchainError(f"the dashboard cannot run: {exc.name} is missing", hint=hint) from exc

    token = token_of(options.token_file)
    with _listening(options) as listener:
        port = listener.getsockname()[1]
        servers: list[uvicorn.Server] = []
        board = _board(
            repositories, options, port=port, token=token, environ=environ, user=user,
            stopping=lambda: any(server.should_exit for server in servers),
        )  # fmt: skip
        config = uvicorn.Config(
                application(board),
            lifespan="off", access_log=False, log_config=None, server_header=False, proxy_headers=False,
            timeout_graceful_shutdown=_GRACE_S, http=patient_protocol(), ws="none",
        )  # fmt: skip
        servers.append(uvicorn.Server(config))
        ready(f"http://{authority(options.host, port)}/#token={token}")
        servers[0].run(sockets=[listener])


def _board(
    repositories: Callable[[], Sequence[Repository]],
    options: ServeOptions,
    *,
    port: int,
    token: str,
    environ: Mapping[str, str],
    user: str,
    stopping: Callable[[], bool],
) -> Board:
    door = Door(
        token=token,
        hosts=_hosts(options, port),
        cookie=f"agentforge_{port}",
        public_metrics=options.public_metrics,
        read_only=options.read_only,
    )
    return Board(
        ground=Ground(repositories, line=LookedAt(environ)),
        readings=Readings(),
        children=Children(environ),
        door=door,
        user=user,
        environ=environ,
        stopping=stopping,
    )


def _hosts(options: ServeOptions, port: int) -> frozenset[str]:
    """What a Host header may say."""
    own = [authority(name, port) for name in ("127.0.0.1", "localhost", "::1")]
    if is_loopback(options.host):
        own.append(authority(options.host, port))
    for name in options.allowed_hosts:
        own += [name, authority(name, port)]
    bare = [name.rpartition(":")[0] for name in own] if port == _HTTP_PORT else []
    return frozenset(name.lower() for name in (*own, *bare))


def _listening(options: ServeOptions) -> socket.socket:
    if not is_loopback(options.host) and not options.allowed_hosts:
        raise UsageError(
            f"{options.host} can be reached from other machines",
            hint="say under which name it will be asked: --allow-host NAME, and put TLS in front of it",
        )
    return listening(options.host, options.port)


_FRESH_S = 5.0
_LEFT_ALONE_S = 60.0


class LookedAt:
    """The queue of a person, kept between looks.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, environ: Mapping[str, str], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._environ = environ
        self._clock = clock
        self._kept: Line | None = None
        self._not_before = 0.0

    def __call__(self) -> Line:
        """The queue, some seconds old at most; with `trouble` when it does not answer."""
        now = self._clock()
        if self._kept is None or now >= self._not_before:
            self._kept = _look(self._environ)
            self._not_before = now + (_LEFT_ALONE_S if self._kept.trouble else _FRESH_S)
        return self._kept


def _look(environ: Mapping[str, str]) -> Line:
    try:
        return look_at_line(load(home_dir(environ), environ), environ)
    except ConfigError as exc:
        return Line(standing={}, trouble=exc.message)


HEADER_S = 10.0
BODY_S = 30.0


def patient_protocol(*, header_s: float = HEADER_S, body_s: float = BODY_S) -> type[Any]:
    """The protocol of the server with a limit of time.

    Args:
        header_s: seconds from the beginning of a connection, or of a further request on it, to the end of the headers.
        body_s: seconds from there to the end of the body.
    """
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class Patient(HttpToolsProtocol):
        """Closes a connection whose request does not come to its end."""

        _late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            """Begin to count."""
            super().connection_made(transport)
            self._expect(header_s)

        def connection_lost(self, exc: Exception | None) -> None:
            """Count no more."""
            self._expect(None)
            super().connection_lost(exc)

        def on_message_begin(self) -> None:
            """Count a further request of the connection anew; the first one is counted from its beginning."""
            if self._late is None:
                self._expect(header_s)
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            """Go on counting for the body."""
            self._expect(body_s)
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            """Stop counting: the answer may take its time."""
            self._expect(None)
            super().on_message_complete()

        def _expect(self, seconds: float | None) -> None:
            if self._late is not None:
                self._late.cancel()
            self._late = None if seconds is None else self.loop.call_later(seconds, self.transport.close)

    return Patient
