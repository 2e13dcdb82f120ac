"""HTTP/1.1 over one socket: a request, the head of its reply, the body as it arrives. What failed means is connection.py's.

Replies are parsed by httptools (the parser of Node.js): a millisecond to import, where the standard library's client, which reads
headers as e-mail, takes a tenth of a whole start.
"""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentforge.errors import ModelNotConfigured, ModelReplyBroken, ModelReplyEndless

if TYPE_CHECKING:
    import ssl

_READ_BYTES = 65_536
_LONGEST_HEAD = 262_144


class HttpSocket:
    """An open connection; one exchange at a time.

    Args:
        host: name or address that is dialled.
        timeout_s: longest wait for the connection.
    Raises:
        OSError: nobody answers there.
        UnicodeError: no such host name can exist.
    """

    def __init__(self, host: str, port: int, *, timeout_s: float) -> None:
        # A host that is ASCII goes as bytes: as text it would be encoded by tables that take longer to load than a call.
        name = host.encode("ascii") if host.isascii() else host.encode("idna")
        self.sock: socket.socket | None = socket.create_connection((name, port), timeout_s)  # type: ignore[arg-type]
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._within_s = 0.0
        self._ends_at: float | None = None

    def tunnel(self, address: str, *, headers: Mapping[str, str]) -> None:
        """Have a proxy pass everything on to `address` (host:port) from now on.

        Raises:
            OSError: it refuses.
        """
        self._send(f"CONNECT {address} HTTP/1.1", {"Host": address, **headers}, b"")
        status = HttpReply(self).status
        if not 200 <= status < 300:
            raise ConnectionError(f"the proxy refuses a tunnel: {status}")

    def secure(self, host: str, context: ssl.SSLContext) -> None:
        """Speak TLS from now on, with whoever can prove to be `host`.

        Raises:
            OSError: it cannot.
        """
        self.sock = context.wrap_socket(self._living(), server_hostname=host)

    def post(self, target: str, *, headers: Mapping[str, str], body: bytes, within_s: float | None = None) -> HttpReply:
        """Send a request and wait for the head of its reply.

        Args:
            target: path and query, or the whole address where a proxy is asked.
            within_s: seconds in which the whole reply has to be there, however much of it comes at a time; None = for ever.
        Raises:
            OSError: no answer, or none in HTTP.
            ModelNotConfigured: a header or the address holds what cannot be sent.
            ModelReplyEndless: the head did not come to its end in time.
        """
        self._within_s = within_s or 0.0
        self._ends_at = None if within_s is None else time.monotonic() + within_s
        sent = {"Accept-Encoding": "identity", "Content-Length": str(len(body)), **headers}
        self._send(f"POST {target or '/'} HTTP/1.1", sent, body)
        return HttpReply(self)

    def receive(self) -> bytes:
        """What has arrived; b"" where the other side has closed the connection.

        Raises:
            OSError: silence for longer than the time-out, or the connection failed.
            ModelReplyEndless: the time for the whole reply is over.
        """
        if self._ends_at is not None and time.monotonic() > self._ends_at:
            raise ModelReplyEndless(
                f"the provider still sends after {self._within_s:.0f} s, and the reply has no end",
                hint="ask another model, or raise model.reply_timeout_s",
            )
        return self._living().recv(_READ_BYTES)

    def close(self) -> None:
        """Close it; a second time costs nothing."""
        if self.sock is not None:
            self.sock.close()
            self.sock = None

    def _send(self, first: str, headers: Mapping[str, str], body: bytes) -> None:
        lines = [first, *(f"{name}: {value}" for name, value in headers.items())]
        for line in lines:
            if not line.isprintable() and any(ord(character) < 32 or character == "\x7f" for character in line):
                name = line.partition(":")[0] if line is not first else "the address"
                raise ModelNotConfigured(
                    f"{name!r} holds a control character", hint="is there a line break in the key?"
                )
        self._living().sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    def _living(self) -> socket.socket:
        if self.sock is None:
            raise ConnectionError("the connection was closed")
        return self.sock


class HttpReply:
    """Status, headers with names in lower case, and a body that is read piece by piece.

    Raises:
        OSError: no answer, or none in HTTP.
    """

    def __init__(self, owner: HttpSocket) -> None:
        self._owner = owner
        self._parts = _Parts()
        self._broken = ""
        while not self._parts.status:
            if not self._fed(owner.receive()):
                raise ConnectionResetError("the connection was closed before an answer came")
            if self._parts.head_bytes > _LONGEST_HEAD:
                raise ConnectionError("the answer has a head without end")
        self.status = self._parts.status
        self.headers: Mapping[str, str] = self._parts.headers

    @property
    def whole(self) -> bool:
        """Whether nothing more comes and everything was read."""
        return self._parts.complete and not self._parts.pieces

    def read(self) -> bytes:
        """The next piece of the body as it arrived; b"" at its end.

        Raises:
            ModelReplyBroken: the body ended too early, or is not what HTTP calls one.
            OSError: silence for longer than the time-out, or the connection failed.
        """
        while not self._parts.pieces and not self._parts.complete:
            if self._broken:
                raise ModelReplyBroken(f"the reply broke off: {self._broken}")
            more = self._fed(self._owner.receive())
            if not more and self._parts.sized:
                raise ModelReplyBroken("the connection was closed in the middle of the reply")
            self._parts.complete |= not more
        return self._parts.pieces.popleft() if self._parts.pieces else b""

    def close(self) -> None:
        """Let go of the reply; a connection that the server will not keep is closed with it."""
        if not self._parts.kept:
            self._owner.close()

    def _fed(self, data: bytes) -> bool:
        """Parse what arrived; False where nothing did.

        Raises:
            ConnectionAbortedError: it is not the head of a reply.
        """
        from httptools import HttpParserError, HttpParserUpgrade

        try:
            self._parts.feed(data)
        except (HttpParserError, HttpParserUpgrade) as exc:
            if not self._parts.status:
                raise ConnectionAbortedError(f"the answer is not HTTP: {exc}") from exc
            self._broken, self._parts.kept = str(exc), False  # told when what came before was read
        return bool(data)


class _Parts:
    """What the parser finds, by the names under which it calls: the first reply that is final, and nothing behind it.

    Attributes:
        status: 0 until the head is whole.
        sized: the body tells where it ends; else it ends with the connection.
    """

    def __init__(self) -> None:
        self.status = self.head_bytes = 0
        self.headers: dict[str, str] = {}
        self.pieces: deque[bytes] = deque()
        self.complete = self.sized = self.kept = False
        from httptools import HttpResponseParser

        self._parser = HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        """Hand bytes to the parser, which calls the methods below."""
        self.head_bytes += 0 if self.status else len(data)
        self._parser.feed_data(data)

    def on_message_begin(self) -> None:
        """Something comes behind the reply that nobody asked for: the connection is of no use any more."""
        self.kept = self.kept and not self.complete

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; one that comes twice is a list."""
        if not self.status:
            key, said = name.decode("latin-1").lower(), value.decode("latin-1").strip()
            self.headers[key] = f"{self.headers[key]}, {said}" if key in self.headers else said

    def on_headers_complete(self) -> None:
        """Take the status of a final reply; one like `100 Continue` is forgotten."""
        code = self._parser.get_status_code()
        if self.status or code < 200:
            return
        self.status = code
        self.sized = "content-length" in self.headers or "transfer-encoding" in self.headers
        self.kept = self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        if self.status and not self.complete:
            self.pieces.append(body)

    def on_message_complete(self) -> None:
        """The reply is whole, or the one before the final is, whose headers do not count."""
        if self.status:
            self.complete = True
        else:
            self.headers.clear()
