"""HTTP/1.1 over one socket: a request, the head of its reply, the body as it arrives. What failed means is connection.py's.

The library's own client parses headers as e-mail; importing that costs more than reading a whole repository's settings.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from agentforge.errors import ModelNotConfigured, ModelReplyBroken

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping
    from io import BufferedReader

_LONGEST_LINE = 65_536
_MOST_HEADERS = 256
_LENGTH_DIGITS = 18
_BODILESS = frozenset({204, 304})
_HEX_DIGITS = b"0123456789abcdefABCDEF"
_CUT_SHORT = "the connection was closed in the middle of the reply"


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

    def tunnel(self, address: str, *, headers: Mapping[str, str]) -> None:
        """Have a proxy pass everything on to `address` (host:port) from now on.

        Raises:
            OSError: it refuses.
        """
        self._send(f"CONNECT {address} HTTP/1.1", {"Host": address, **headers}, b"")
        with self._living().makefile("rb") as reader:
            status, reason, _, _ = _head(reader)
        if not 200 <= status < 300:
            raise ConnectionError(f"the proxy refuses a tunnel: {status} {reason}")

    def secure(self, host: str, context: ssl.SSLContext) -> None:
        """Speak TLS from now on, with whoever can prove to be `host`.

        Raises:
            OSError: it cannot.
        """
        self.sock = context.wrap_socket(self._living(), server_hostname=host)

    def post(self, target: str, *, headers: Mapping[str, str], body: bytes) -> HttpReply:
        """Send a request and wait for the head of its reply.

        Args:
            target: path and query, or the whole address where a proxy is asked.
        Raises:
            OSError: no answer, or none in HTTP.
            ModelNotConfigured: a header or the address holds what cannot be sent.
        """
        sent = {"Accept-Encoding": "identity", "Content-Length": str(len(body)), **headers}
        self._send(f"POST {target or '/'} HTTP/1.1", sent, body)
        return HttpReply(self, self._living().makefile("rb"))

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

    Attributes:
        left: bytes of the body, or of its present chunk, that have not come yet; None where the body ends with the connection.
        whole: the body was read to its end.
    """

    def __init__(self, owner: HttpSocket, reader: BufferedReader) -> None:
        self._owner, self._reader = owner, reader
        try:
            self.status, _, self.headers, version = _head(reader)
        except BaseException:
            reader.close()
            raise
        self._chunked = self.headers.get("transfer-encoding", "").lower().rpartition(",")[2].strip() == "chunked"
        self.left = 0 if self._chunked or self.status in _BODILESS else _length(self.headers)
        self.whole = not self._chunked and self.left == 0
        wish = self.headers.get("connection", "").lower()
        kept = "close" not in wish if version == b"HTTP/1.1" else "keep-alive" in wish
        self._kept = kept and self.left is not None
        self._at_chunk = False

    def read(self, most: int) -> bytes:
        """What has arrived of the body, `most` bytes at most; b"" at its end.

        Raises:
            ModelReplyBroken: the body ended too early, or is not what HTTP calls one.
            OSError: silence for longer than the time-out, or the connection failed.
        """
        if self.whole:
            return b""
        if self._chunked and not self.left and not self._next_chunk():
            return self._finished()
        if self.left == 0:
            return self._finished()
        piece = self._reader.read1(most if self.left is None else min(most, self.left))
        if self.left is not None:
            if not piece:
                raise ModelReplyBroken(_CUT_SHORT if self._chunked else _ended_before(self.left))
            self.left -= len(piece)
        return piece or self._finished()

    def close(self) -> None:
        """Let go of the reply; a connection that the server will not keep is closed with it."""
        self._reader.close()
        if not self._kept:
            self._owner.close()

    def _finished(self) -> bytes:
        self.whole = True
        return b""

    def _next_chunk(self) -> bool:
        """Read on to the next chunk; False at the last."""
        if self._at_chunk:
            self._line()  # what closes the chunk before
        self._at_chunk = True
        size = self._line().partition(b";")[0].strip()
        if not size or size.strip(_HEX_DIGITS):
            raise ModelReplyBroken("the reply broke off: a chunk has no size")
        self.left = int(size, 16)
        if not self.left:
            while self._line():  # trailers
                pass
        return bool(self.left)

    def _line(self) -> bytes:
        line = self._reader.readline(_LONGEST_LINE)
        if not line.endswith(b"\n"):
            raise ModelReplyBroken(_CUT_SHORT)
        return line.rstrip(b"\r\n")


def _head(reader: BufferedReader) -> tuple[int, str, dict[str, str], bytes]:
    """Status, reason, headers and version of the next reply that is final.

    Raises:
        OSError: what came is not the head of a reply.
    """
    while True:
        line = _head_line(reader)
        version, _, rest = line.partition(b" ")
        code, _, reason = rest.strip().partition(b" ")
        if version not in (b"HTTP/1.1", b"HTTP/1.0") or len(code) != 3 or not code.isdigit():
            raise ConnectionError(f"the answer is not HTTP: {line[:80]!r}")
        headers = _headers(reader)
        if not 100 <= int(code) < 200 or code == b"101":
            return int(code), reason.decode("latin-1"), headers, version


def _headers(reader: BufferedReader) -> dict[str, str]:
    found: dict[str, str] = {}
    last = ""
    for _ in range(_MOST_HEADERS):
        line = _head_line(reader).decode("latin-1")
        if not line:
            return found
        name, colon, value = line.partition(":")
        if line[0] in " \t" and last:  # goes on with the header above
            found[last] += f" {line.strip()}"
        elif colon:
            last = name.strip().lower()
            found[last] = value.strip()
    raise ConnectionError(f"the answer has more than {_MOST_HEADERS} headers")


def _head_line(reader: BufferedReader) -> bytes:
    line = reader.readline(_LONGEST_LINE)
    if line.endswith(b"\n"):
        return line.rstrip(b"\r\n")
    if len(line) == _LONGEST_LINE:
        raise ConnectionError("the answer has a header line without end")
    raise ConnectionResetError("the connection was closed before an answer came")


def _length(headers: Mapping[str, str]) -> int | None:
    """The length that a body promises; None = it ends with its connection."""
    said = headers.get("content-length", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) <= _LENGTH_DIGITS else None


def _ended_before(left: int) -> str:
    return f"the connection was closed {left} bytes before the end of the reply"
