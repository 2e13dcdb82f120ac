"""Serving the dashboard: the socket, the token, and the server around the application."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agentforge.dashboard.board import Board
from agentforge.dashboard.ground import Ground, Repository
from agentforge.errors import ToolchainError, UsageError
from agentforge.frozen import dataclass

_GRACE_S = 2
_HTTP_PORT = 80
_PRIVATE = stat.S_IRWXG | stat.S_IRWXO


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
        import uvicorn
    except ImportError as exc:
        hint = "install agentforge-pipeline[dashboard]"
        raise ToolchainError(f"the dashboard cannot run: {exc.name} is missing", hint=hint) from exc
    from agentforge.dashboard.application import application

    token = _token(options.token_file)
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
            timeout_graceful_shutdown=_GRACE_S,
        )  # fmt: skip
        servers.append(uvicorn.Server(config))
        ready(f"http://{_authority(options.host, port)}/#token={token}")
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
    from agentforge.dashboard.children import Children
    from agentforge.dashboard.guard import Door
    from agentforge.dashboard.reading import Readings

    door = Door(
        token=token,
        hosts=_hosts(options, port),
        cookie=f"agentforge_{port}",
        public_metrics=options.public_metrics,
        read_only=options.read_only,
    )
    return Board(
        ground=Ground(repositories),
        readings=Readings(),
        children=Children(environ),
        door=door,
        user=user,
        environ=environ,
        stopping=stopping,
    )


def _hosts(options: ServeOptions, port: int) -> frozenset[str]:
    """What a Host header may say."""
    own = [_authority(name, port) for name in ("127.0.0.1", "localhost", "::1")]
    if _is_loopback(options.host):
        own.append(_authority(options.host, port))
    for name in options.allowed_hosts:
        own += [name, _authority(name, port)]
    bare = [name.rpartition(":")[0] for name in own] if port == _HTTP_PORT else []
    return frozenset(name.lower() for name in (*own, *bare))


def _listening(options: ServeOptions) -> socket.socket:
    if not _is_loopback(options.host) and not options.allowed_hosts:
        raise UsageError(
            f"{options.host} can be reached from other machines",
            hint="say under which name it will be asked: --allow-host NAME, and put TLS in front of it",
        )
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((options.host, options.port))
        listener.listen()  # before the address is told: whoever follows it at once must not be refused
    except (OSError, OverflowError) as exc:
        listener.close()
        told = exc.strerror if isinstance(exc, OSError) else exc
        raise UsageError(f"{options.host}:{options.port} cannot be used: {told}", hint="take another --port") from exc
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _token(path: Path | None) -> str:
    """The token of the file, which is made when it is missing; without a file a new one."""
    if path is None:
        return secrets.token_urlsafe(32)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _kept_token(path)
    except OSError as exc:
        raise UsageError(f"{path} cannot be written: {exc.strerror}", hint="name another --token-file") from exc
    token = secrets.token_urlsafe(32)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{token}\n")
    return token


def _kept_token(path: Path) -> str:
    try:
        if path.stat().st_mode & _PRIVATE:
            raise UsageError(f"others can read {path}", hint=f"chmod 600 {path}")
        token = path.read_text("ascii").strip()
    except (OSError, ValueError) as exc:
        raise UsageError(f"{path} cannot be read: {exc}", hint="name another --token-file") from exc
    if len(token) < 20 or not token.replace("-", "").replace("_", "").isalnum():
        raise UsageError(f"{path} holds no token", hint="remove it, and a good one is made")
    return token
