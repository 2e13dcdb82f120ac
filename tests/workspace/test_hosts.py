"""Which hosts commands may reach, judged as words and tried with a loopback server that stands for the outside."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentforge.errors import ConfigError
from agentforge.workspace.sandbox.box import Box, choose, missing_because
from agentforge.workspace.sandbox.hostlist import parse
from agentforge.workspace.sandbox.hostproxy import HostProxy

NEEDS_BWRAP = pytest.mark.skipif(bool(missing_because(os.environ)), reason="bubblewrap does not work here")


@pytest.mark.parametrize(
    ("entry", "host", "port"),
    [
        ("example.org", "example.org", 443),
        ("example.org", "EXAMPLE.org.", 80),
        ("*.example.org", "a.b.example.org", 443),
        ("example.org:8443", "example.org", 8443),
        ("10.0.0.0/8", "10.1.2.3", 443),
        ("[::1]:80", "::1", 80),
        ("bücher.example", "xn--bcher-kva.example", 443),
    ],
)
def test_a_listed_host_may_be_asked_for(entry: str, host: str, port: int) -> None:
    assert parse((entry,)).refusal(host, port) is None


@pytest.mark.parametrize(
    ("entry", "host", "port"),
    [
        ("example.org", "example.org.evil.test", 443),
        ("example.org", "notexample.org", 443),
        ("example.org", "a.example.org", 443),
        ("*.example.org", "example.org", 443),
        ("*.example.org", "evilexample.org", 443),
        ("example.org", "example.org", 22),
        ("example.org:8443", "example.org", 443),
        ("example.org", "example.org@evil.test", 443),
        ("example.org", "example.org\x00.evil.test", 443),
        ("example.org", "example.org/..", 443),
        ("10.0.0.1", "10.0.0.2", 443),
        ("10.0.0.1", "167772161", 443),
        ("example.org", "*.example.org", 443),
    ],
)
def test_no_other_host_may_be_asked_for(entry: str, host: str, port: int) -> None:
    assert "not in sandbox.network" in str(parse((entry,)).refusal(host, port))


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "fe80::1%eth0", "fd00::1", "0.0.0.0",
     "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "100.64.0.1", "224.0.0.1", "255.255.255.255"],
)  # fmt: skip
def test_a_name_that_leads_to_an_inner_address_is_refused_unless_the_address_is_listed(address: str) -> None:
    assert "no public address" in str(parse(("example.org",)).address_refusal(address, 443))
    plain = address.partition("%")[0]
    assert parse(("example.org", f"[{plain}]" if ":" in plain else plain)).refusal(plain, 443) is None


def test_public_addresses_pass() -> None:
    assert parse(("example.org",)).address_refusal("93.184.215.14", 443) is None
    assert parse(("example.org",)).address_refusal("2606:2800:21f:cb07::1", 443) is None


@pytest.mark.parametrize(
    "entry", ["", "*", "*.", "*.org", "http://example.org", "example.org/path", "ex ample", "a:99999", "a..b"]
)
def test_what_is_no_host_is_refused_by_name(entry: str) -> None:
    with pytest.raises(ConfigError, match="is not a host"):
        parse((entry,))


class Outside:
    """A server on the loopback; remembers what it was sent."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        self.seen: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client:
                self.seen.append(client.recv(65536))
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")


@pytest.fixture
def outside() -> Iterator[Outside]:
    server = Outside()
    yield server
    server.listener.close()


def asked(proxy: HostProxy, request: bytes) -> bytes:
    """Send bytes to the proxy and give everything that comes back."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(proxy.socket))
        client.sendall(request)
        client.settimeout(5)
        answer = b""
        while data := client.recv(65536):
            answer += data
            if answer.endswith(b"established\r\n\r\n"):
                client.sendall(b"ping")
        return answer


@pytest.fixture
def proxy(outside: Outside) -> Iterator[HostProxy]:
    names = {"allowed.test": ["127.0.0.1"], "rebound.test": ["10.9.9.9"]}
    hosts = parse((f"allowed.test:{outside.port}", f"127.0.0.1:{outside.port}", "rebound.test"))
    found = HostProxy(hosts, resolve=lambda host, _port: names[host])
    yield found
    found.close()


def test_connect_reaches_a_listed_host_and_nothing_else(proxy: HostProxy, outside: Outside) -> None:
    answer = asked(proxy, f"CONNECT allowed.test:{outside.port} HTTP/1.1\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"hello")
    assert outside.seen == [b"ping"]
    for host in (f"evil.test:{outside.port}", "allowed.test:22", f"allowed.test.evil:{outside.port}"):
        assert asked(proxy, f"CONNECT {host} HTTP/1.1\r\n\r\n".encode()).startswith(b"HTTP/1.1 403")


def test_plain_http_is_forwarded_as_one_request_with_the_host_that_was_checked(
    proxy: HostProxy, outside: Outside
) -> None:
    url = f"http://allowed.test:{outside.port}/a?b=c"
    second = b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"
    request = f"POST {url} HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 2\r\nProxy-Connection: keep-alive\r\n\r\nok"
    assert asked(proxy, request.encode() + second).endswith(b"hello")
    sent = outside.seen[0]
    assert sent.startswith(b"POST /a?b=c HTTP/1.1\r\n")
    assert f"Host: allowed.test:{outside.port}".encode() in sent
    assert sent.endswith(b"\r\n\r\nok")
    assert b"evil" not in sent
    assert b"Proxy-Connection" not in sent


def test_a_name_whose_address_is_inside_is_refused(proxy: HostProxy) -> None:
    answer = asked(proxy, b"CONNECT rebound.test:443 HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"no public address" in answer


@pytest.mark.parametrize(
    "request_text",
    [b"GET /path HTTP/1.1\r\n\r\n", b"CONNECT nowhere HTTP/1.1\r\n\r\n", b"rubbish\r\n\r\n", b"GET ftp://allowed.test/ HTTP/1.1\r\n\r\n",
     b"SSH-2.0-x\r\n\r\n"],
)  # fmt: skip
def test_what_is_no_request_of_a_proxy_is_refused(proxy: HostProxy, request_text: bytes) -> None:
    assert asked(proxy, request_text).startswith(b"HTTP/1.1 400")


@NEEDS_BWRAP
def test_a_command_reaches_the_listed_host_through_the_relay_and_has_no_other_way(
    tmp_path: Path, outside: Outside
) -> None:
    hosts = (f"localhost:{outside.port}", f"127.0.0.1:{outside.port}")
    sandbox = choose("bubblewrap", network=hosts)
    code = (
        "import http.client as h, os, socket\n"
        "assert os.environ['HTTPS_PROXY'] == 'http://127.0.0.1:3128'\n"
        "for host in ('localhost', 'evil.test'):\n"
        f"    c = h.HTTPConnection('127.0.0.1', 3128); c.request('GET', f'http://{{host}}:{outside.port}/')\n"
        "    r = c.getresponse(); print(host, r.status, r.read()[:5].decode())\n"
        "try:\n"
        f"    socket.create_connection(('127.0.0.1', {outside.port}), 1); print('direct')\n"
        "except OSError: print('closed')\n"
    )
    box = Box(workspace=tmp_path, mount_at=tmp_path)
    done = sandbox.run(["python3", "-c", code], box=box, timeout_s=20)
    assert done.text == "localhost 200 hello\nevil.test 403 agent\nclosed\n"
    assert sandbox.run(["no-such-program"], box=box, timeout_s=20).exit_code == 127
    assert sandbox.run(["bash", "-c", "exit 9"], box=box, timeout_s=20).exit_code == 9
