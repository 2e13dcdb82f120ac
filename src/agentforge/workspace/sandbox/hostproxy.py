"""The way out for commands that may reach some hosts: a forward proxy on a unix socket that resolves, checks and connects."""

from __future__ import annotations

import atexit
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from agentforge.frozen import dataclass
from agentforge.workspace.sandbox import relay
from agentforge.workspace.sandbox.hostlist import HostList, parse

_CHUNK_BYTES = 65_536
_HEAD_BYTES = 65_536
_CONNECT_S = 15.0
_HOP_BY_HOP = frozenset(
    {"connection", "proxy-connection", "proxy-authorization", "keep-alive", "te", "upgrade", "host"}
)

Resolve = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(Exception):
    """A request that is not carried out; `status` is the answer's."""

    status: str
    reason: str


class HostProxy:
    """Serves CONNECT and plain HTTP in threads of its own until the process ends.

    Args:
        hosts: what may be reached.
        resolve: gives the addresses of a name; the command itself resolves nothing.
    """

    def __init__(self, hosts: HostList, *, resolve: Resolve | None = None) -> None:
        self._hosts = hosts
        self._resolve = resolve or _addresses
        self._folder = Path(tempfile.mkdtemp(prefix="agentforge-net-"))
        self.socket = self._folder / "proxy"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.socket))
        self._listener.listen(128)
        atexit.register(self.close)
        threading.Thread(target=self._serve, daemon=True, name="host-proxy").start()

    def mounts(self) -> list[str]:
        """The arguments that bring the socket and the relay into a box."""
        place = _place()
        return [
            *("--dir", place, "--ro-bind", relay.__file__, f"{place}/relay.py"),
            *("--ro-bind", str(self.socket), f"{place}/proxy"),
        ]

    def command(self, argv: Sequence[str]) -> list[str]:
        """Put the relay before a command that runs in a box."""
        return [sys.executable, "-I", "-S", f"{_place()}/relay.py", f"{_place()}/proxy", *argv]

    def variables(self) -> dict[str, str]:
        """What tells programs to use the relay."""
        url = f"http://127.0.0.1:{relay.PORT}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        near = "localhost,127.0.0.1,::1"
        used = {key: url for name in names for key in (name, name.lower())}
        return {**used, "NO_PROXY": near, "no_proxy": near, "NODE_USE_ENV_PROXY": "1"}

    def close(self) -> None:
        """Stop to listen and remove the socket."""
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client: socket.socket) -> None:
        with client:
            try:
                self._carry_out(client)
            except Refused as exc:
                body = f"agentforge: {exc.reason}\n".encode()
                head = f"HTTP/1.1 {exc.status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
                _send(client, head.encode() + b"Connection: close\r\n\r\n" + body)
            except OSError:  # one of both has hung up: there is nobody to tell
                return

    def _carry_out(self, client: socket.socket) -> None:
        head, rest = _head(client)
        method, target, _ = _request_line(head)
        if method == "CONNECT":
            host, port = _authority(target, default=None)
            with self._connected(host, port) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                server.sendall(rest)
                _both_ways(client, server)
            return
        parts = urlsplit(target)
        if parts.scheme != "http" or not parts.hostname:
            raise Refused(status="400 Bad Request", reason=f"{target[:100]!r} is no http:// address")
        host, port = _authority(parts.netloc.rpartition("@")[2], default=80)
        with self._connected(host, port) as server:
            self._forward(client, server, head=head, rest=rest, netloc=parts.netloc.rpartition("@")[2])

    def _forward(self, client: socket.socket, server: socket.socket, *, head: bytes, rest: bytes, netloc: str) -> None:
        """Send one request and no byte more: what follows on the line could be meant for another host."""
        method, target, version = _request_line(head)
        parts = urlsplit(target)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        fields = [line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:] if line]
        lengths = {value.strip() for name, _, value in fields if name.strip().lower() == "content-length"}
        chunked = any(name.strip().lower() == "transfer-encoding" for name, _, _ in fields)
        if chunked or len(lengths) > 1 or not all(length.isdigit() for length in lengths):
            raise Refused(status="411 Length Required", reason="a request through the proxy needs one Content-Length")
        kept = [f"{name}:{value}" for name, _, value in fields if name.strip().lower() not in _HOP_BY_HOP]
        lines = [f"{method} {path} {version}", f"Host: {netloc}", *kept, "Connection: close", "", ""]
        left = int(next(iter(lengths), "0"))
        server.sendall("\r\n".join(lines).encode("latin-1") + rest[:left])
        left -= len(rest[:left])
        while left and (data := client.recv(min(left, _CHUNK_BYTES))):
            server.sendall(data)
            left -= len(data)
        while data := server.recv(_CHUNK_BYTES):
            client.sendall(data)

    def _connected(self, host: str, port: int) -> socket.socket:
        """Connect to the address that was checked, so that a name that changes its address gains nothing."""
        reason = self._hosts.refusal(host, port)
        if reason is not None:
            raise Refused(status="403 Forbidden", reason=reason)
        try:
            addresses = self._resolve(host, port)
        except OSError as exc:
            raise Refused(status="502 Bad Gateway", reason=f"{host} has no address: {exc}") from exc
        reason = f"{host} has no address"
        for address in addresses:
            refused = self._hosts.address_refusal(address, port)
            if refused is not None:
                reason = refused
                continue
            try:
                connection = socket.create_connection((address, port), timeout=_CONNECT_S)
            except OSError as exc:
                reason = f"{host} at {address}: {exc}"
                continue
            connection.settimeout(None)
            return connection
        raise Refused(status="403 Forbidden" if "listed" in reason else "502 Bad Gateway", reason=reason)


@lru_cache(maxsize=8)
def proxy_for(hosts: tuple[str, ...]) -> HostProxy:
    """Give the proxy of a list of hosts, started on first use.

    Raises:
        ConfigError: an entry is no host.
    """
    return HostProxy(parse(hosts))


def _place() -> str:
    """A folder that only the box has; /run and /tmp are empty and private there."""
    return "/run/agentforge" if Path("/run").is_dir() and not Path("/run").is_symlink() else "/tmp/.agentforge"


def _addresses(host: str, port: int) -> Sequence[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


def _head(client: socket.socket) -> tuple[bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = client.recv(_CHUNK_BYTES)
        if not chunk or len(data) > _HEAD_BYTES:
            raise Refused(status="400 Bad Request", reason="no whole HTTP request")
        data += chunk
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


def _request_line(head: bytes) -> tuple[str, str, str]:
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise Refused(status="400 Bad Request", reason="no HTTP/1 request")
    return words[0], words[1], words[2]


def _authority(text: str, *, default: int | None) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if colon and port.isdigit() and int(port) < 65_536:
        return host.strip("[]"), int(port)
    if default is None or not text:
        raise Refused(status="400 Bad Request", reason=f"{text[:100]!r} is no host:port")
    return text.strip("[]"), default


def _both_ways(client: socket.socket, server: socket.socket) -> None:
    back = threading.Thread(target=_copy, args=(server, client), daemon=True)
    back.start()
    _copy(client, server)
    back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(_CHUNK_BYTES):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:  # one side is gone: end the other, too
        for end in (source, target):
            _shut(end)


def _shut(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:  # closed already
        return


def _send(client: socket.socket, data: bytes) -> None:
    try:
        client.sendall(data)
    except OSError:  # hung up
        return
