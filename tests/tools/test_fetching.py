"""Proves tools/addresses.py, tools/fetching.py and the web tools: only public addresses, bounded, text only."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from agentforge.toolbox.web import web_search
from agentforge.toolbox.web.web_fetch import TOOL, read_page
from agentforge.toolbox.web.web_search import listed
from agentforge.tools.base import ToolError
from agentforge.tools.web.fetch import FetchFailed, fetch, refusal, text_of_html

_HTML = (
    "<html><head><title>T</title></head><body><p>Seen.</p><p hidden>Hidden order</p><script>x()</script></body></html>"
)


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        send = {
            "/page": lambda: self._answer(200, "text/html; charset=utf-8", _HTML.encode()),
            "/latin": lambda: self._answer(200, "text/plain; charset=latin-1", "é".encode("latin-1")),
            "/strange": lambda: self._answer(200, "text/plain; charset=no-such", b"plain"),
            "/big": lambda: self._answer(200, "text/plain", b"x" * 50_000),
            "/binary": lambda: self._answer(200, "image/png", b"\x89PNG\0"),
            "/lies": lambda: self._answer(200, "text/plain", b"\x89PNG\0\0"),
            "/missing": lambda: self._answer(404, "text/plain", b"no such page"),
            "/inner": lambda: self._moved("/page"),
            "/loop": lambda: self._moved("/loop"),
            "/away": lambda: self._moved("http://169.254.169.254/latest/meta-data/"),
            "/file": lambda: self._moved("file:///etc/passwd"),
            "/drip": self._drip,
        }
        send[self.path]()

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _moved(self, to: str) -> None:
        self.send_response(302)
        self.send_header("Location", to)
        self.end_headers()

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        stop: threading.Event = self.server.stop  # type: ignore[attr-defined]
        for _ in range(200):
            try:
                self.wfile.write(b".")
            except OSError:
                return
            if stop.wait(0.02):
                return

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    server.stop = threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.stop.set()  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()
    thread.join()


def _anywhere(_address: str) -> str:
    return ""


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1", "192.0.2.1", "198.18.0.1", "nonsense",
        "::127.0.0.1", "::10.0.0.1", "64:ff9b:1::7f00:1", "::ffff:0:127.0.0.1", "fec0::1", "5f00::1", "3fff::1",
        "168.63.129.16", "192.0.0.192", "192.88.99.1",
    ],
)  # fmt: skip
def test_no_address_of_this_machine_or_its_network_is_public(address: str) -> None:
    assert refusal(address)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::808:808"]
)
def test_public_addresses_pass(address: str) -> None:
    assert refusal(address) == ""


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/", "http://127.0.0.1/", "http://[::1]/", "http://0/", "http://2130706433/", "http://0x7f.1/",
        "http://[::ffff:169.254.169.254]/latest/meta-data/", "http://127.1:8080/", "http://localhost./",
    ],
)  # fmt: skip
def test_this_machine_is_not_fetched_however_it_is_written(url: str) -> None:
    with pytest.raises(FetchFailed) as caught:
        fetch(url, timeout_s=5)
    assert caught.value.kind in ("refused-address", "not-found")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x/", "http://", "http://u:p@h/", "x", "http://h:99999/"])
def test_only_plain_web_addresses_are_fetched(url: str) -> None:
    with pytest.raises(FetchFailed) as caught:
        fetch(url, timeout_s=5)
    assert caught.value.kind == "bad-arguments"


def test_every_hop_is_judged_and_another_host_is_not_followed(site: str) -> None:
    page = fetch(f"{site}/away", timeout_s=5, judge=_anywhere)
    assert (page.elsewhere, page.body) == ("http://169.254.169.254/latest/meta-data/", b"")
    assert "169.254.169.254" in read_page(page).text
    assert fetch(f"{site}/file", timeout_s=5, judge=_anywhere).elsewhere == "file:///etc/passwd"
    judged: list[str] = []
    fetch(f"{site}/inner", timeout_s=5, judge=lambda address: judged.append(address) or "")  # type: ignore[func-returns-value]
    assert len(judged) == 2


def test_a_redirect_on_the_same_host_is_followed_and_a_circle_ends(site: str) -> None:
    assert fetch(f"{site}/inner", timeout_s=5, judge=_anywhere).url.endswith("/page")
    with pytest.raises(FetchFailed, match="redirects more than"):
        fetch(f"{site}/loop", timeout_s=5, judge=_anywhere)


def test_time_and_size_are_bounded(site: str) -> None:
    page = fetch(f"{site}/big", timeout_s=5, most_bytes=1000, judge=_anywhere)
    assert (len(page.body), page.cut) == (1000, True)
    with pytest.raises(FetchFailed) as caught:
        fetch(f"{site}/drip", timeout_s=0.2, judge=_anywhere)
    assert caught.value.kind == "timeout"


def test_pages_become_text_and_what_is_no_text_is_refused(site: str) -> None:
    def text(path: str) -> str:
        return read_page(fetch(site + path, timeout_s=5, judge=_anywhere)).text

    assert "Seen." in text("/page") and "x()" not in text("/page")
    assert (text("/latin"), text("/strange")) == ("é", "plain")
    assert read_page(fetch(f"{site}/missing", timeout_s=5, judge=_anywhere)).error_type == "http-status"
    for path in ("/binary", "/lies"):
        with pytest.raises(ToolError):
            text(path)


def test_what_a_page_hides_is_not_read() -> None:
    hidden = "<p>Seen</p><div style='display: none'>no<p>nor this</p></div><p>Also</p><template>no</template>"
    from agentforge.tools.web import fetch as webtext

    assert webtext._by_tags(hidden) == "Seen\nAlso"
    assert text_of_html("", url="http://x/") == ""


def test_the_tool_itself_refuses_this_machine(site: str) -> None:
    with pytest.raises(ToolError, match="this machine itself"):
        TOOL.run({"url": f"{site}/page"}, None)  # type: ignore[arg-type]


def test_what_was_found_is_listed_and_odd_results_do_not_break_it() -> None:
    seen = listed("x", [{"title": "A", "href": "https://a/", "body": "words"}, {}])
    assert seen.summary == "2 results for x" and "https://a/" in seen.text


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A proxy in the environment that answers everything with the page of the site; what it was asked for."""
    asked: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"GET {self.path} {self.headers.get('Proxy-Authorization', '')}".strip())
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(b"by the proxy")

        def do_CONNECT(self) -> None:
            asked.append(f"CONNECT {self.path}")
            self.send_error(403, "not today")

        def log_message(self, *_words: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in ("http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    address = f"127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("HTTP_PROXY", f"http://ann:secret@{address}")
    monkeypatch.setenv("http_proxy", f"http://ann:secret@{address}")
    monkeypatch.setenv("HTTPS_PROXY", f"http://{address}")
    monkeypatch.setattr("socket.getaddrinfo", _only_numbers(socket.getaddrinfo))
    yield asked
    server.shutdown()
    server.server_close()


def _only_numbers(known: Callable[..., Any]) -> Callable[..., Any]:
    """A machine that resolves no names: only the proxy does."""

    def resolve(host: str, *rest: Any, **more: Any) -> Any:
        if not host.replace(".", "").isdigit():
            raise socket.gaierror("no such name")
        return known(host, *rest, **more)

    return resolve


def test_a_proxy_is_asked_with_the_whole_address(proxied: list[str]) -> None:
    assert fetch("http://example.org/a?b=1", timeout_s=5).body == b"by the proxy"
    assert proxied == ["GET http://example.org/a?b=1 Basic YW5uOnNlY3JldA=="]
    with pytest.raises(FetchFailed, match="cannot be reached by the proxy"):
        fetch("https://example.org/", timeout_s=5)
    assert proxied[1:] == ["CONNECT example.org:443"]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://10.0.0.7/",
        "http://metadata.google.internal/",
        "http://router/",
        "http://printer.local./",
    ],
)
def test_a_proxy_opens_no_inner_network(proxied: list[str], url: str) -> None:
    with pytest.raises(FetchFailed) as caught:
        fetch(url, timeout_s=5)
    assert (caught.value.kind, proxied) == ("refused-address", [])


def test_what_no_proxy_names_is_not_asked_of_it(proxied: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "example.org")
    with pytest.raises(FetchFailed, match="was not found"):
        fetch("http://example.org/", timeout_s=5)
    assert proxied == []


def test_searching_takes_proxy_and_certificates_from_the_environment(
    proxied: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ddgs = pytest.importorskip("ddgs")
    given: dict[str, Any] = {}

    class Engine:
        def __init__(self, **options: Any) -> None:
            given.update(options)

        def text(self, _query: str, *, max_results: int) -> list[dict[str, str]]:
            return [{"title": str(max_results)}]

    monkeypatch.setattr(ddgs, "DDGS", Engine)
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/own.pem")
    web_search.TOOL.run({"query": "x"}, None)  # type: ignore[arg-type]
    assert given["proxy"].startswith("http://127.0.0.1:") and given["verify"] == "/etc/own.pem"
