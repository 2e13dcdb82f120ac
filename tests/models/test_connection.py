"""Proves models/connection.py: TLS, proxies, kept and stale connections, over real sockets on loopback."""

from __future__ import annotations

import base64
import re
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentforge.errors import ModelNotConfigured, ModelReplyBroken, ModelUnavailable
from agentforge.models.transport.connection import HttpConnection
from tests.support.loopback.provider import LoopbackProvider, Say
from tests.support.toolchains import need

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class RawServer:
    """Accepts connections and answers each request of them with fixed bytes; notes what it read."""

    def __init__(
        self,
        answer: bytes,
        *,
        tls: ssl.SSLContext | None = None,
        tunnel: ssl.SSLContext | None = None,
        once: bool = False,
    ) -> None:
        self.read: list[bytes] = []
        self.connections = 0
        self._answer, self._tls, self._tunnel, self._once = answer, tls, tunnel, once
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop accepting."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            try:
                with connection:
                    self._serve(self._tls.wrap_socket(connection, server_side=True) if self._tls else connection)
            except OSError as exc:  # a client that does not trust us, or went away
                self.read.append(repr(exc).encode())

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            while data := _whole_request(connection):
                self.read.append(data)
                if data.startswith(b"CONNECT"):  # the tunnel ends in this same server
                    connection.sendall(b"HTTP/1.1 200 established\r\n\r\n")
                    assert self._tunnel is not None
                    self._serve(self._tunnel.wrap_socket(connection, server_side=True))
                    return
                connection.sendall(self._answer)
                if self._once:
                    return


@pytest.fixture
def serve() -> Iterator[Callable[..., RawServer]]:
    """Starts raw servers."""
    servers: list[RawServer] = []

    def start(answer: bytes = OK, **settings: object) -> RawServer:
        servers.append(RawServer(answer, **settings))  # type: ignore[arg-type]
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def connection() -> Iterator[HttpConnection]:
    """A connection that is closed afterwards."""
    opened = HttpConnection(read_timeout_s=5.0)
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate of 127.0.0.1, key and certificate in one file."""
    need("openssl")
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(path), "-out", str(path) + ".crt", "-days", "2", "-subj", "/CN=127.0.0.1"]
    subprocess.run(
        [*command, "-addext", "subjectAltName=IP:127.0.0.1,DNS:provider.invalid"], check=True, capture_output=True
    )
    path.write_text(path.read_text() + Path(str(path) + ".crt").read_text())
    return path


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    """The server's side of TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def fetch(connection: HttpConnection, url: str) -> bytes:
    """Post and read the whole body."""
    with connection.post(url, headers={"X-Test": "1"}, body=b"{}") as response:
        return b"".join(response.chunks())


def test_a_certificate_from_ssl_cert_file_is_trusted(
    serve: Callable[..., RawServer],
    connection: HttpConnection,
    tls: ssl.SSLContext,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = serve(tls=tls)
    assert fetch(connection, f"https://127.0.0.1:{server.port}/v1") == b"ok"


def test_an_unknown_certificate_is_refused_with_a_hint(
    serve: Callable[..., RawServer], connection: HttpConnection, tls: ssl.SSLContext
) -> None:
    server = serve(tls=tls)
    with pytest.raises(ModelUnavailable, match="SSL_CERT_FILE"):
        fetch(connection, f"https://127.0.0.1:{server.port}/v1")


def test_a_plain_address_goes_through_the_http_proxy_with_credentials(
    serve: Callable[..., RawServer], connection: HttpConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = serve()
    monkeypatch.setenv("HTTP_PROXY", f"http://me:p%40ss@127.0.0.1:{proxy.port}")
    assert fetch(connection, "http://provider.invalid/v1/x") == b"ok"
    assert proxy.read[0].startswith(b"POST http://provider.invalid/v1/x HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic " + base64.b64encode(b"me:p@ss") in proxy.read[0]


def test_a_secure_address_goes_through_a_tunnel(
    serve: Callable[..., RawServer],
    connection: HttpConnection,
    tls: ssl.SSLContext,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proxy = serve(tunnel=tls)
    monkeypatch.setenv("https_proxy", f"me:pw@127.0.0.1:{proxy.port}")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert fetch(connection, "https://provider.invalid/v1") == b"ok"
    assert fetch(connection, "https://provider.invalid/v1") == b"ok"
    opened, *asked = proxy.read
    assert opened.startswith(b"CONNECT provider.invalid:443 HTTP/1.")
    assert b"Proxy-Authorization: Basic " + base64.b64encode(b"me:pw") in opened
    assert [request.partition(b"\r\n")[0] for request in asked] == [b"POST /v1 HTTP/1.1"] * 2
    assert b"Proxy-Authorization" not in b"".join(asked)


def test_no_proxy_and_loopback_are_exempt(
    serve: Callable[..., RawServer], connection: HttpConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, server = serve(OK.replace(b"ok", b"px")), serve()
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
    assert fetch(connection, f"http://localhost:{server.port}/v1") == b"ok"
    assert fetch(connection, f"http://127.0.0.1:{server.port}/v1") == b"ok"
    here = f"http://0.0.0.0:{server.port}/v1"  # this machine, too, under a name that is not loopback's
    assert fetch(connection, here) == b"px"
    connection.close()
    monkeypatch.setenv("NO_PROXY", "example.org, 0.0.0.0")
    assert fetch(connection, here) == b"ok"


def test_a_proxy_of_another_kind_is_a_clear_error(connection: HttpConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "socks5://me:secret@127.0.0.1:1")
    with pytest.raises(ModelNotConfigured, match=r"socks5://127\.0\.0\.1") as caught:
        fetch(connection, "http://provider.invalid/v1")
    assert "secret" not in str(caught.value)


def test_a_connection_that_the_server_closed_meanwhile_is_opened_again(
    serve: Callable[..., RawServer], connection: HttpConnection
) -> None:
    server = serve(once=True)  # says nothing of it: no "Connection: close"
    for _ in range(3):
        assert fetch(connection, f"http://127.0.0.1:{server.port}/v1") == b"ok"
        _wait_for_end(connection)
    assert server.connections == 3
    assert len(server.read) == 3


def test_a_kept_connection_serves_many_requests(serve: Callable[..., RawServer], connection: HttpConnection) -> None:
    server = serve()
    assert [fetch(connection, f"http://127.0.0.1:{server.port}/v1") for _ in range(5)] == [b"ok"] * 5
    assert server.connections == 1


def test_another_address_gets_another_connection(serve: Callable[..., RawServer], connection: HttpConnection) -> None:
    first, second = serve(), serve()
    fetch(connection, f"http://127.0.0.1:{first.port}/v1")
    fetch(connection, f"http://127.0.0.1:{second.port}/v1")
    assert (first.connections, second.connections) == (1, 1)


def test_a_body_that_is_shorter_than_promised_is_broken(
    serve: Callable[..., RawServer], connection: HttpConnection
) -> None:
    server = serve(OK.replace(b"Length: 2", b"Length: 9"), once=True)
    with pytest.raises(ModelReplyBroken, match="closed in the middle of the reply"):
        fetch(connection, f"http://127.0.0.1:{server.port}/v1")


def test_a_body_without_length_ends_with_its_connection(
    serve: Callable[..., RawServer], connection: HttpConnection
) -> None:
    server = serve(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it", once=True)
    assert fetch(connection, f"http://127.0.0.1:{server.port}/v1") == b"all of it"
    assert fetch(connection, f"http://127.0.0.1:{server.port}/v1") == b"all of it"


def test_something_that_is_not_http_is_unavailable(serve: Callable[..., RawServer], connection: HttpConnection) -> None:
    server = serve(b"SSH-2.0-OpenSSH\r\n", once=True)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        fetch(connection, f"http://127.0.0.1:{server.port}/v1")


def test_a_response_that_is_left_unread_does_not_spoil_the_next(
    connection: HttpConnection, loopback: LoopbackProvider
) -> None:
    loopback.plan(Say(text="first", pieces=1, pause_s=0.01), Say(text="second", pieces=100))
    url = f"{loopback.url}/v1/chat/completions"
    with pytest.raises(KeyboardInterrupt), connection.post(url, headers={}, body=b"{}") as response:
        next(response.chunks())
        raise KeyboardInterrupt
    assert b"second" in fetch(connection, url)


def test_a_proxy_that_is_not_there_is_named(connection: HttpConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:  # nobody listens there
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        for name in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(ModelUnavailable) as caught:
            fetch(connection, "https://api.example.com/v1")
    assert f"by the proxy 127.0.0.1:{port}" in caught.value.message and "HTTPS_PROXY" in caught.value.hint


def test_a_host_name_that_cannot_exist_is_unavailable(connection: HttpConnection) -> None:
    with pytest.raises(ModelUnavailable):
        fetch(connection, f"http://{'x' * 64}.invalid/v1")


@pytest.mark.parametrize(
    "url", ["ftp://h/v1", "h:80/v1", "http:///v1", "http://h:x/v1", "http://[::/v1", "http://h /v1", ""]
)
def test_an_address_that_is_none_is_a_clear_error(url: str, connection: HttpConnection) -> None:
    with pytest.raises(ModelNotConfigured, match="base_url"):
        fetch(connection, url)


def _whole_request(connection: socket.socket) -> bytes:
    """One request with its body, b"" at the end: an answer before the body was read would reset the connection."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return b""
        data += piece
    length = re.search(rb"Content-Length: (\d+)", data)
    while length and len(data) < data.index(b"\r\n\r\n") + 4 + int(length[1]):
        data += connection.recv(65536)
    return data


def _wait_for_end(connection: HttpConnection) -> None:
    """Until the server's end of the connection has arrived."""
    kept = connection._open
    if kept is not None and kept.sock is not None:
        kept.sock.recv(1, socket.MSG_PEEK)
