"""Who may ask the dashboard what: names of this host, the token, the origin of changes, and headers on every answer."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from agentforge.frozen import dataclass

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types agentforge",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_OPEN = ("/login", "/answer", "/static/app.css", "/static/app.js", "/static/login.js", "/static/icon.svg")
"""What needs no cookie; a link to `/answer` brings its own proof."""

_CHANGING = ("POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What opens the dashboard.

    Attributes:
        token: of the person who started it; never written to a log or an address that is sent.
        hosts: names and ports under which it may be asked, as in the Host header.
        cookie: name of the cookie; each port has its own.
        public_metrics: `/metrics` needs no token.
        read_only: nothing can be changed.
    """

    token: str
    hosts: frozenset[str]
    cookie: str
    public_metrics: bool = False
    read_only: bool = False

    @property
    def session(self) -> str:
        """The value of the cookie; the token cannot be found from it."""
        return _derived(self.token, "session")

    @property
    def csrf(self) -> str:
        """What every form has to bring along."""
        return _derived(self.token, "csrf")

    def admits(self, headers: Mapping[str, str]) -> bool:
        """Whether a request brings the cookie or the token."""
        return self.bears_token(headers) or _same(_cookie(headers.get("cookie", ""), self.cookie), self.session)

    def bears_token(self, headers: Mapping[str, str]) -> bool:
        """Whether a program asks, with the token in its header."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and self.fits(token)

    def fits(self, token: str) -> bool:
        """Whether it is the token."""
        return _same(token.strip(), self.token)

    def knows(self, host: str) -> bool:
        """Whether the Host header names this dashboard: a foreign name that was rebound to this address does not."""
        return host.lower() in self.hosts

    def is_own(self, origin: str) -> bool:
        """Whether an Origin header is of a page of this dashboard."""
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and parts.netloc.lower() in self.hosts


class Guard:
    """An ASGI application in front of another one.

    Args:
        inner: is asked only what may be asked.
        login: answers whoever has no cookie yet.
    """

    def __init__(self, inner: Application, *, door: Door, login: Application) -> None:
        self._inner = inner
        self._door = door
        self._login = login

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        guarded = _with_headers(send)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(refusal, guarded)
        elif self._may_enter(scope, headers):
            await self._inner(scope, receive, guarded)
        else:
            await self._login(scope, receive, guarded)

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str] | None:
        if not self._door.knows(headers.get("host", "")):
            return 421, "this host name does not belong to the dashboard"
        if scope["method"] not in _CHANGING or self._door.bears_token(headers):
            return None
        if not self._door.is_own(headers.get("origin", "")):
            return 403, "the request does not come from a page of the dashboard"
        return None

    def _may_enter(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        path = scope["path"]
        free = path in _OPEN or (path == "/metrics" and self._door.public_metrics)
        return free or self._door.admits(headers)


def _with_headers(send: Send) -> Send:
    """Add the headers to an answer; one that set a header itself keeps it."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in message["headers"]}
            more = [(name.encode(), value.encode()) for name, value in _HEADERS.items() if name.encode() not in given]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return sending


async def _refuse(refusal: tuple[int, str], send: Send) -> None:
    status, text = refusal
    body = f"{text}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _cookie(header: str, name: str) -> str:
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return next((value for key, _, value in pairs if key == name), "")


def _derived(token: str, purpose: str) -> str:
    return hmac.new(token.encode(), f"agentforge dashboard {purpose}".encode(), "sha256").hexdigest()


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())
