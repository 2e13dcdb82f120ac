"""Proves models/http_socket.py: replies as servers really write them, read from bytes; requests over a socket on loopback."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from agentforge.errors import ModelNotConfigured, ModelReplyBroken
from agentforge.models.transport.http_socket import HttpReply, HttpSocket

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """A server that nobody has answered at yet."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def open_socket(listening: socket.socket) -> Iterator[HttpSocket]:
    """A connection to it."""
    made = HttpSocket("127.0.0.1", listening.getsockname()[1], timeout_s=5.0)
    yield made
    made.close()


def reply(owner: HttpSocket, answer: bytes, *, at_once: int = 65_536) -> HttpReply:
    """The reply that these bytes are, arriving in pieces; then the other side says no more."""
    if owner.sock is not None:
        owner.sock.close()
    owner.sock, far = socket.socketpair()

    def send() -> None:
        with far, contextlib.suppress(OSError):  # what is refused is not read to its end
            for first in range(0, len(answer), at_once):
                far.sendall(answer[first : first + at_once])
                if at_once < 100:
                    time.sleep(0)

    threading.Thread(target=send, daemon=True).start()
    return HttpReply(owner)


def body(found: HttpReply) -> bytes:
    """Its whole body."""
    return b"".join(iter(found.read, b""))


@pytest.mark.parametrize(
    ("answer", "expected", "kept"),
    [
        (OK + b"Content-Length: 5\r\n\r\nhello", b"hello", True),
        (OK + b"content-length:5\r\nConnection: Close\r\n\r\nhello", b"hello", False),
        (OK + b"\r\nuntil the end", b"until the end", False),
        (OK + b"Content-Length: 0\r\n\r\n", b"", True),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok", b"ok", True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", True),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\nx", b"x", True),
        (CHUNKED + b"5\r\nhello\r\n6;name=value\r\n world\r\n0\r\n\r\n", b"hello world", True),
        (CHUNKED + b"A\r\n0123456789\r\n000\r\nDigest: x\r\nExpires: y\r\n\r\n", b"0123456789", True),
        (OK + b"Transfer-Encoding: gzip, CHUNKED\r\n\r\n1\r\nx\r\n0\r\n\r\n", b"x", True),
    ],
)  # fmt: skip
def test_every_way_to_end_a_body_is_understood(
    open_socket: HttpSocket, answer: bytes, expected: bytes, kept: bool
) -> None:
    for at_once in (65_536, 1):
        found = reply(open_socket, answer, at_once=at_once)
        assert body(found) == expected
        assert found.whole
        assert found.read() == b""
    found.close()
    assert (open_socket.sock is not None) == kept


def test_headers_have_names_in_lower_case_and_one_that_comes_twice_is_a_list(open_socket: HttpSocket) -> None:
    found = reply(open_socket, OK + b"Retry-After:  7 \r\nX-List: a\r\nx-list: b\r\nX-Cafe: \xe9\r\n\r\n")
    assert found.headers == {"retry-after": "7", "x-list": "a, b", "x-cafe": "\xe9"}


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"Content-Length: 5\r\n\r\nhell",
        CHUNKED,
        CHUNKED + b"5\r\nhel",
        CHUNKED + b"5\r\nhello\r\n",
        CHUNKED + b"5\r\nhello\r\n0\r\n",
        CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n",
        CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n",
        CHUNKED + b"\r\n",
        CHUNKED + b"1" * 70_000,
    ],
)
def test_a_body_that_ends_too_early_or_is_misspelled_is_broken(open_socket: HttpSocket, answer: bytes) -> None:
    with pytest.raises(ModelReplyBroken):
        body(reply(open_socket, answer))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 2OO OK\r\n\r\n",
        OK + b"Content-Length: 5\r\n",
        OK + b"Content-Length: -3\r\n\r\nuntil the end",
        OK + b"Content-Length: 9e9\r\n\r\nall",
        OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nall",
        OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        OK + b"X: " + b"x" * 300_000 + b"\r\n\r\n",
        OK + b"X: y\r\n" * 60_000 + b"\r\n",
    ],
)
def test_what_is_no_head_is_an_error_of_the_connection(open_socket: HttpSocket, answer: bytes) -> None:
    with pytest.raises(OSError, match=r"answer"):
        reply(open_socket, answer)


def test_a_request_is_spelled_as_servers_want_it(listening: socket.socket, open_socket: HttpSocket) -> None:
    read: list[bytes] = []

    def answer() -> None:
        peer, _ = listening.accept()
        with peer:
            read.append(peer.recv(65_536))
            peer.sendall(OK + b"Content-Length: 2\r\n\r\nok")

    thread = threading.Thread(target=answer)
    thread.start()
    assert body(open_socket.post("", headers={"Host": "there", "X-Key": "k\xe9y"}, body=b"{}")) == b"ok"
    thread.join()
    head, _, sent = read[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST / HTTP/1.1\r\n")
    assert {b"Host: there", b"X-Key: k\xe9y", b"Content-Length: 2"} <= set(head.split(b"\r\n"))
    assert sent == b"{}"


@pytest.mark.parametrize("value", ["key\n", "key\r\nX-Other: 1", "k\x00y", "k\x7fy"])
def test_a_header_cannot_bring_another_one_with_it(open_socket: HttpSocket, value: str) -> None:
    with pytest.raises(ModelNotConfigured, match="'Authorization'") as caught:
        open_socket.post("/v1", headers={"Authorization": value}, body=b"")
    assert "k" not in str(caught.value).partition("holds")[0].replace("Authorization", "")


def test_an_address_cannot_bring_a_header_with_it(open_socket: HttpSocket) -> None:
    with pytest.raises(ModelNotConfigured, match="the address"):
        open_socket.post("/v1\r\nX-Other: 1", headers={}, body=b"")
