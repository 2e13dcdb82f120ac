"""One kept-alive HTTP/1.1 connection to a provider: TLS, proxies, time-outs. What a status means is not decided here.

Start-up is a budget: a general HTTP client costs more CPU to import than a whole `start` may take until its first request,
and the standard library's a tenth of that. How requests are spelled and replies are parsed stands in http_socket.py.

A local model's server is found or started for every request, and leased until its reply was read.
"""

from __future__ import annotations

import os
import select
import ssl
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from socket import SHUT_RDWR
from types import TracebackType
from typing import Protocol
from urllib.parse import SplitResult, unquote, urlsplit

from agentforge.cancellation import interruptible
from agentforge.errors import ModelNotConfigured, ModelReplyBroken, ModelReplyEndless, ModelUnavailable
from agentforge.local import Wanted, leased, wait_for_end
from agentforge.models.transport.http_socket import HttpReply, HttpSocket

_CONNECT_TIMEOUT_S = 15.0
_END_TIMEOUT_S = 0.25
REPLY_TIMEOUT_S = 3600.0
"""Longest time for a whole reply where nobody has set another."""
_MAX_REPLY_BYTES = 128 * 1024 * 1024
_PORTS = {"http": 80, "https": 443}
_CA_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Arch, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",  # macOS, BSD
)
NOWHERE = "http://localhost/v1"
"""The address that requests are made out to; where the server listens is known when it is asked."""


class Response(Protocol):
    """What came back; use it as a context manager."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""

    def chunks(self) -> Iterator[bytes]:
        """The body in the pieces in which it arrives.

        Raises:
            ModelReplyBroken: the body ended too early.
            ModelReplyEndless: the time for the whole reply is over.
            ModelUnavailable: silence for longer than the time-out, or the connection failed.
        """

    def __enter__(self) -> Response: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class Connection(Protocol):
    """The seam below the wire: the network, a tape that records it, a tape that replays it."""

    def post(self, url: str, *, headers: Mapping[str, str], body: bytes) -> Response:
        """Send one request.

        Raises:
            ModelUnavailable: no connection, or no answer.
        """

    def close(self) -> None:
        """Let go of the socket."""


class HttpConnection:
    """A connection that is opened when it is needed and kept between requests.

    `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY` and `SSL_CERT_FILE` are honoured; loopback never goes through a
    proxy.

    Args:
        read_timeout_s: longest silence while waiting for the reply or within it.
        reply_timeout_s: longest time for a whole reply, however often a piece of it comes.
    """

    def __init__(self, *, read_timeout_s: float = 180.0, reply_timeout_s: float = REPLY_TIMEOUT_S) -> None:
        self._read_timeout_s = read_timeout_s
        self._reply_timeout_s = reply_timeout_s
        self._open: HttpSocket | None = None
        self._origin = ""
        self._tls: ssl.SSLContext | None = None

    def post(self, url: str, *, headers: Mapping[str, str], body: bytes) -> Response:
        """Send one request, over the open connection where it still stands."""
        target = _target_of(url)
        proxy = proxy_for(target)
        try:
            absolute = proxy is not None and target.scheme == "http"
            path = url if absolute else target.path + (f"?{target.query}" if target.query else "")
            sent = {
                "Host": target.netloc.rpartition("@")[2],
                **(proxy_credentials(proxy) if absolute else {}),
                **headers,
            }
            with interruptible(self._wake):
                connection = self._connected(target, proxy)
                reply = connection.post(path, headers=sent, body=body, within_s=self._reply_timeout_s)
                return _HttpResponse(self, connection, reply)
        except (OSError, UnicodeError) as exc:  # UnicodeError: no such host name can exist
            self.close()
            raise _unreachable(target, exc) from exc
        except BaseException:  # Ctrl-C in the middle of an exchange leaves a connection that cannot be used again
            self.close()
            raise

    def close(self) -> None:
        """Close the connection if it is open; the next request opens another."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _wake(self) -> None:
        """End a blocking read from another thread."""
        sock = self._open.sock if self._open is not None else None
        if sock is not None:
            with suppress(OSError):  # it was closed meanwhile
                sock.shutdown(SHUT_RDWR)

    def _connected(self, target: SplitResult, proxy: SplitResult | None) -> HttpSocket:
        origin = f"{target.scheme}://{target.netloc}"
        if self._open is not None and (origin != self._origin or _is_stale(self._open)):
            self.close()
        if self._open is None:
            self._open, self._origin = self._dialled(target, proxy), origin
        return self._open

    def _dialled(self, target: SplitResult, proxy: SplitResult | None) -> HttpSocket:
        host, port = target.hostname or "", target.port or _PORTS[target.scheme]
        near = (host, port) if proxy is None else (proxy.hostname or "", proxy.port or 80)
        made = HttpSocket(*near, timeout_s=_CONNECT_TIMEOUT_S)
        try:
            if target.scheme == "https":
                if proxy is not None:
                    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
                    made.tunnel(address, headers=proxy_credentials(proxy))
                made.secure(host, self._tls_context())
            assert made.sock is not None
            made.sock.settimeout(self._read_timeout_s)
        except BaseException:
            made.close()
            raise
        return made

    def _tls_context(self) -> ssl.SSLContext:
        """What is trusted; made only for https, as it costs 20 ms."""
        if self._tls is None:
            self._tls = tls_context()
        return self._tls


def tls_context() -> ssl.SSLContext:
    """The certificates that are trusted: the system's, or those of SSL_CERT_FILE."""
    made = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    if paths.cafile is None and paths.capath is None:  # a Python that was built for another distribution
        for bundle in filter(os.path.exists, _CA_BUNDLES):
            made.load_verify_locations(bundle)
    return made


class _HttpResponse:
    """A response whose connection can be used again only if its body was read to the end."""

    def __init__(self, owner: HttpConnection, connection: HttpSocket, reply: HttpReply) -> None:
        self.status = reply.status
        self.headers: Mapping[str, str] = reply.headers
        self._owner = owner
        self._connection = connection
        self._reply = reply

    def __enter__(self) -> Response:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        if not (self._reply.whole or (kind is None and self._ends_now())):
            self._owner.close()
        self._reply.close()

    def chunks(self) -> Iterator[bytes]:
        """The body in the pieces in which it arrives."""
        size = 0
        with interruptible(self._owner._wake):
            while chunk := self._read():
                size += len(chunk)
                if size > _MAX_REPLY_BYTES:
                    raise ModelReplyBroken("the reply is larger than 128 MiB")
                yield chunk

    def _read(self) -> bytes:
        try:
            return self._reply.read()
        except ConnectionResetError as exc:
            raise ModelReplyBroken("the connection was closed in the middle of the reply") from exc
        except TimeoutError as exc:
            raise ModelUnavailable("the provider stopped sending in the middle of the reply") from exc
        except (OSError, ValueError) as exc:  # ValueError: it was closed from another thread
            raise ModelReplyBroken(f"the reply broke off: {exc}") from exc

    def _ends_now(self) -> bool:
        """Whether the end of the body follows at once on what was read, so that the connection can be kept."""
        sock = self._connection.sock
        if sock is None:
            return False
        timeout = sock.gettimeout()
        sock.settimeout(_END_TIMEOUT_S)
        try:
            return not self._read()
        except (ModelReplyBroken, ModelReplyEndless, ModelUnavailable):
            return False
        finally:
            sock.settimeout(timeout)


def _is_stale(connection: HttpSocket) -> bool:
    """Whether the other side closed an idle connection: then it can be read, and nothing was asked."""
    if connection.sock is None:
        return True
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))


def _target_of(url: str) -> SplitResult:
    try:
        target = urlsplit(url)
        usable = target.scheme in ("http", "https") and target.hostname and target.port != 0
    except ValueError:  # a port that is no number, a broken IPv6 address
        usable = False
    if not usable or any(character.isspace() for character in url):
        raise ModelNotConfigured(f"{url!r} is not an http or https address", hint="set model.base_url")
    return target


def proxy_for(target: SplitResult) -> SplitResult | None:
    """The proxy that the environment names for an address; None = none, or it is exempt.

    Raises:
        ModelNotConfigured: it is no http:// proxy.
    """
    host = target.hostname or ""
    if host in {"localhost", "::1"} or host.startswith("127."):
        return None
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies_environment, proxy_bypass

    proxies = getproxies_environment()
    found = proxies.get(target.scheme) or proxies.get("all")
    if not found or proxy_bypass(target.netloc.rpartition("@")[2]):
        return None
    proxy = urlsplit(found if "://" in found else f"http://{found}")
    if proxy.scheme != "http" or not proxy.hostname:
        shown = f"{proxy.scheme}://{proxy.hostname}"
        raise ModelNotConfigured(
            f"the proxy {shown} for {host} cannot be used", hint="name an http:// proxy, or exempt it by NO_PROXY"
        )
    return proxy


def proxy_credentials(proxy: SplitResult | None) -> dict[str, str]:
    """The header that names the user of a proxy; {} where it has none."""
    if proxy is None or proxy.username is None:
        return {}

    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode('ascii')}"}


def _unreachable(target: SplitResult, exc: Exception) -> ModelUnavailable:
    place = f"{target.scheme}://{target.hostname}" + (f":{target.port}" if target.port else "")
    if isinstance(exc, TimeoutError):
        return ModelUnavailable(f"{place} did not answer in time", hint="is the server running?")
    if type(exc).__name__ == "SSLCertVerificationError":
        return ModelUnavailable(
            f"the certificate of {place} is not trusted: {exc}", hint="name your CA bundle in SSL_CERT_FILE"
        )
    said = str(exc) or type(exc).__name__
    proxy = proxy_for(target)
    if proxy is not None:
        return ModelUnavailable(
            f"{place} cannot be reached by the proxy {proxy.hostname}:{proxy.port or 80}: {said}",
            hint=f"correct {target.scheme.upper()}_PROXY, or exempt the address by NO_PROXY",
        )
    return ModelUnavailable(
        f"{place} cannot be reached: {said}",
        hint="is this machine on the network (behind a proxy: set HTTPS_PROXY), the address right, the server running?",
    )


class LocalConnection:
    """A connection to whatever server lives for a model now; a server that died is started again by the next try.

    Args:
        read_timeout_s: longest silence while waiting for the reply or within it.
        reply_timeout_s: longest time for a whole reply.
    """

    def __init__(self, wanted: Wanted, *, read_timeout_s: float, reply_timeout_s: float = REPLY_TIMEOUT_S) -> None:
        self._wanted = wanted
        self._http = HttpConnection(read_timeout_s=read_timeout_s, reply_timeout_s=reply_timeout_s)

    def post(self, url: str, *, headers: Mapping[str, str], body: bytes) -> Response:
        """Send one request to the server.

        Raises:
            LocalModelError: it cannot be started.
        Side effects: may start the server.
        """
        with ExitStack() as stack:
            served = stack.enter_context(leased(self._wanted))
            address = f"{served.url}{urlsplit(url).path}"
            said = {**headers, "Authorization": f"Bearer {served.key}"}
            try:
                response = self._http.post(address, headers=said, body=body)
            except ModelUnavailable:
                wait_for_end(self._wanted)  # the next try starts another one
                raise
            return _Leased(response, stack.pop_all(), self._wanted.file.name)
        raise AssertionError("an exit stack swallows nothing")

    def close(self) -> None:
        """Let go of the socket; the server goes on until it is idle for long enough."""
        self._http.close()


class _Leased:
    """A response with the lease on the server that gives it."""

    def __init__(self, response: Response, lease: ExitStack, model: str) -> None:
        self.status = response.status
        self.headers = response.headers
        self._response = response
        self._lease = lease
        self._model = model

    def chunks(self) -> Iterator[bytes]:
        """The body in the pieces in which it arrives.

        Raises:
            ModelReplyBroken: the server ended in the middle of it; the next try starts another one.
        """
        try:
            yield from self._response.chunks()
        except ModelReplyBroken as exc:
            raise ModelReplyBroken(
                f"the server of {self._model} ended in the middle of a reply: {exc.message}",
                hint="it is started again by the next request; `agentforge model list` shows its memory",
            ) from exc

    def __enter__(self) -> Response:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        with self._lease:
            self._response.__exit__(kind, error, trace)
