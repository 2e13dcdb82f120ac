"""Fetch one page from the public web: never from this machine or its network, bounded in time, size and redirects.

Which IP addresses a tool may talk to: only public ones, whatever a name or another notation makes of them.

From a web page to the text that a person would read: by trafilatura where it is installed, else by the page's tags.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from html.parser import HTMLParser
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

from agentforge.cancellation import interruptible
from agentforge.errors import ModelNotConfigured
from agentforge.frozen import dataclass
from agentforge.models import proxy_credentials, proxy_for, tls_context

_NAT64 = ip_network("64:ff9b::/96")
_CARRIER = ip_network("100.64.0.0/10")
_PUBLIC_V6 = ip_network("2000::/3")
_COMPATIBLE = ip_network("::/96")
_TRANSLATED = ip_network("::ffff:0:0:0/96")
_SPECIAL = tuple(
    ip_network(one) for one in ("168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24", "3fff::/20", "2001:db8::/32")
)
"""Public by their numbers and served by the machine's own surroundings (a cloud's agent), by a relay, or by nobody."""


def refusal(address: str) -> str:
    """Say why an address is not public, "" when it is.

    Args:
        address: as the resolver gives it; a zone behind `%` is dropped.
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return "no IP address"
    inner = _carried(found)
    if inner is not None:
        return refusal(str(inner))
    checks = {
        "this machine itself": found.is_loopback or found.is_unspecified,
        "link-local, where machines keep their metadata": found.is_link_local,
        "a multicast address": found.is_multicast,
        "inside a private network": found.is_private or not found.is_global or _is_inner(found),
    }
    return next((why for why, holds in checks.items() if holds), "")


def _carried(found: IPv4Address | IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for."""
    if isinstance(found, IPv4Address):
        return None
    if found in _NAT64 or found in _TRANSLATED or (found in _COMPATIBLE and int(found) > 1):
        return IPv4Address(int(found) & 0xFFFFFFFF)
    return found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)


def _is_inner(found: IPv4Address | IPv6Address) -> bool:
    """Whether an address leads nowhere in the public network although the standard library takes it for global."""
    if any(found in network for network in _SPECIAL):
        return True
    return found in _CARRIER if isinstance(found, IPv4Address) else found not in _PUBLIC_V6


MOST_BYTES = 2_000_000
_MOST_REDIRECTS = 5
_CHUNK_BYTES = 32_768
_INNER = (".internal", ".local", ".localhost", ".lan", ".intranet", ".corp", ".home.arpa")
"""Names that public servers never have."""

_REDIRECTS = (301, 302, 303, 307, 308)
_HEADERS = {
    "User-Agent": "AgentForge",
    "Accept": "text/html, text/plain, application/json;q=0.9, */*;q=0.5",
    "Accept-Encoding": "identity",
    "Connection": "close",
}

Judge = Callable[[str], str]
"""Why an IP address may not be talked to, "" when it may."""


class FetchFailed(Exception):
    """The page was not fetched; the text says why. `kind` is a stable word for it."""

    def __init__(self, message: str, *, kind: str = "network") -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """What a server answered.

    Attributes:
        url: where it came from, after redirects on the same host.
        elsewhere: the address on another host that it leads to instead; not followed, because nobody agreed to that host.
        cut: it was longer than was read.
    """

    url: str
    status: int
    content_type: str
    body: bytes
    cut: bool = False
    elsewhere: str = ""


def fetch(url: str, *, timeout_s: float, most_bytes: int = MOST_BYTES, judge: Judge = refusal) -> WebPage:
    """Fetch a page; every address is judged after its name was resolved, and the connection goes to that very address.

    `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY` and `SSL_CERT_FILE` are honoured. A proxy resolves names by itself:
    what this machine resolves is judged all the same, and names that only inner networks have are not asked for.

    Args:
        timeout_s: for everything together, redirects included.
    Raises:
        FetchFailed: no such page, an address that may not be reached, a time limit, a server that breaks the protocol.
    """
    deadline = time.monotonic() + timeout_s
    for _ in range(_MOST_REDIRECTS + 1):
        parts = _checked(url)
        page = _once(parts, deadline, most_bytes, judge)
        if not page.elsewhere:
            return page
        following = urlsplit(page.elsewhere)
        if (following.scheme, _site(following)) != (parts.scheme, _site(parts)):
            if (parts.scheme, following.scheme, _site(parts)) == ("http", "https", _site(following)):
                url = page.elsewhere
                continue
            return page
        url = page.elsewhere
    raise FetchFailed(f"{url} redirects more than {_MOST_REDIRECTS} times")


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as exc:
        raise FetchFailed(f"{url!r} is no address: {exc}", kind="bad-arguments") from exc
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise FetchFailed(f"{url!r} is no http or https address", kind="bad-arguments")
    if parts.username or parts.password:
        raise FetchFailed("an address with a name or password in it is not fetched", kind="bad-arguments")
    return parts


def _site(parts: SplitResult) -> str:
    return (parts.hostname or "").removeprefix("www.")


def _once(parts: SplitResult, deadline: float, most_bytes: int, judge: Judge) -> WebPage:
    proxy = _proxy_of(parts)
    if proxy is not None:
        _refuse_inner(parts, judge)
        connection = _by_proxy(parts, proxy, _left(deadline))
    else:
        connection = _connection(parts, _resolved(parts, judge), _left(deadline))
    wire = connection.sock  # the connection forgets it when the server says that it will close
    target = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    headers = _HEADERS
    if proxy is not None and parts.scheme == "http":
        target, headers = f"http://{parts.netloc}{target}", {**_HEADERS, **proxy_credentials(proxy)}
    try:
        with interruptible(lambda: _wake(wire)):
            connection.request("GET", target, headers=headers)
            with connection.getresponse() as response:
                return _page(parts, response, wire, deadline, most_bytes)
    except TimeoutError as exc:
        raise FetchFailed(f"{parts.hostname}: the time limit is over", kind="timeout") from exc
    except (OSError, http.client.HTTPException, ValueError) as exc:
        raise FetchFailed(f"{parts.hostname}: {exc or type(exc).__name__}") from exc
    finally:
        connection.close()


def _page(
    parts: SplitResult, response: http.client.HTTPResponse, wire: socket.socket, deadline: float, most_bytes: int
) -> WebPage:
    location = response.headers.get("Location", "") if response.status in _REDIRECTS else ""
    body, cut = (b"", False) if location else _body(response, wire, deadline, most_bytes)
    return WebPage(
        url=parts.geturl(),
        status=response.status,
        content_type=response.headers.get("Content-Type", ""),
        body=body,
        cut=cut,
        elsewhere=urljoin(parts.geturl(), location) if location else "",
    )


def _proxy_of(parts: SplitResult) -> SplitResult | None:
    try:
        return proxy_for(parts)
    except ModelNotConfigured as exc:
        raise FetchFailed(str(exc), kind="proxy") from exc


def _refuse_inner(parts: SplitResult, judge: Judge) -> None:
    """Judge what can be known of a host that a proxy will look up."""
    host = (parts.hostname or "").rstrip(".").lower()
    try:
        _resolved(parts, judge)
    except FetchFailed as exc:
        if exc.kind != "not-found":
            raise
        if "." not in host or host.endswith(_INNER):
            raise FetchFailed(
                f"{host} is not fetched: only an inner network knows such a name", kind="refused-address"
            ) from exc


def _by_proxy(parts: SplitResult, proxy: SplitResult, timeout_s: float) -> http.client.HTTPConnection:
    place, port = proxy.hostname or "", proxy.port or 80
    if parts.scheme == "http":
        connection = http.client.HTTPConnection(place, port, timeout=timeout_s)
    else:
        connection = http.client.HTTPSConnection(place, port, timeout=timeout_s, context=tls_context())
        connection.set_tunnel(parts.hostname or "", parts.port or 443, headers=proxy_credentials(proxy))
    try:
        connection.connect()
    except ssl.SSLError as exc:
        connection.close()
        raise FetchFailed(f"{parts.hostname}: {exc}", kind="tls") from exc
    except (OSError, http.client.HTTPException) as exc:
        connection.close()
        raise FetchFailed(f"{parts.hostname} cannot be reached by the proxy {place}:{port}: {exc}") from exc
    return connection


def _resolved(parts: SplitResult, judge: Judge) -> str:
    """The first address of the host; one that may not be reached makes the whole name unreachable."""
    host = parts.hostname or ""
    try:
        found = socket.getaddrinfo(host, parts.port or parts.scheme, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as exc:
        raise FetchFailed(f"{host} was not found: {exc}", kind="not-found") from exc
    addresses = [str(entry[4][0]) for entry in found]
    for address in addresses:
        why = judge(address)
        if why:
            raise FetchFailed(f"{host} is not fetched: {address} is {why}", kind="refused-address")
    return addresses[0]


def _connection(parts: SplitResult, address: str, timeout_s: float) -> http.client.HTTPConnection:
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "http":
        plain = http.client.HTTPConnection(host, port or 80, timeout=timeout_s)
        plain.sock = _socket(address, port or 80, timeout_s, host)
        return plain
    secure = http.client.HTTPSConnection(host, port or 443, timeout=timeout_s)
    raw = _socket(address, port or 443, timeout_s, host)
    try:
        secure.sock = tls_context().wrap_socket(raw, server_hostname=host)
    except OSError as exc:
        raw.close()
        raise FetchFailed(f"{host}: {exc}", kind="tls") from exc
    return secure


def _socket(address: str, port: int, timeout_s: float, host: str) -> socket.socket:
    try:
        return socket.create_connection((address, port), timeout=timeout_s)
    except OSError as exc:
        raise FetchFailed(f"{host} cannot be reached: {exc}") from exc


def _body(response: http.client.HTTPResponse, wire: socket.socket, deadline: float, most: int) -> tuple[bytes, bool]:
    """Read up to `most` bytes; every wait is bounded by what is left of the time."""
    body = bytearray()
    while len(body) <= most:
        left = _left(deadline)
        if wire.fileno() >= 0:  # Python 3.13 closes it with the last byte of the body
            wire.settimeout(left)
        chunk = response.read1(_CHUNK_BYTES)
        if not chunk:
            return bytes(body), False
        body += chunk
    return bytes(body[:most]), True


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise FetchFailed("the time limit is over", kind="timeout")
    return left


def _wake(wire: socket.socket) -> None:
    with suppress(OSError):  # closed by the other side meanwhile
        wire.shutdown(socket.SHUT_RDWR)


_UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "head"})
_BREAKS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "pre"})
_HIDING = ("display:none", "visibility:hidden")
_VOID = frozenset(
    {"br", "img", "hr", "input", "meta", "link", "source", "wbr", "area", "base", "col", "embed", "track"}
)


def text_of_html(html: str, *, url: str) -> str:
    """Take the text out of a page; "" when it holds none."""
    return _by_trafilatura(html, url) or _by_tags(html)


def _by_trafilatura(html: str, url: str) -> str:
    try:
        import trafilatura
    except ImportError:  # the extra `web` is not installed
        return ""
    found = trafilatura.extract(html, url=url, output_format="markdown", include_links=True, include_tables=True)
    return str(found or "")


def _by_tags(html: str) -> str:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.pieces).split("\n"))
    return "\n".join(line for line in lines if line)


class _Reader(HTMLParser):
    """Collects what is seen."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Break lines, and look away from what nobody sees."""
        if tag in _BREAKS:
            self.pieces.append("\n")
        if tag not in _VOID and (self._hidden or tag in _UNSEEN or _is_hidden(attrs)):
            self._hidden.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Look again when the unseen ends."""
        if tag in self._hidden:
            while self._hidden.pop() != tag:
                pass
        if tag in _BREAKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        """Keep what is seen."""
        if not self._hidden:
            self.pieces.append(data)


def _is_hidden(attrs: list[tuple[str, str | None]]) -> bool:
    given = dict(attrs)
    style = "".join((given.get("style") or "").lower().split())
    return "hidden" in given or any(word in style for word in _HIDING)
