"""The way to a server over HTTP: its headers, its time limits, answers of bounded size, and a login where it wants one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentforge.tools.mcp.oauth import Login
    from agentforge.tools.mcp.spec import ServerSpec

_CONNECT_S = 20.0
_MOST_BYTES = 16 * 1024 * 1024


class Answers:
    """What a server answered last, as far as it explains why it cannot be used."""

    def __init__(self, spec: ServerSpec) -> None:
        self.over = asyncio.Event()
        self._spec = spec
        self._said = ""

    async def heard(self, response: Any) -> None:
        """Remember an answer that refuses, until a better one comes."""
        status = response.status_code
        hint = (
            f"; log in: agentforge mcp login {self._spec.name}, or /mcp login {self._spec.name}"
            if status == 401
            else ""
        )
        to = f" to {response.headers.get('location', '')[:200]}" if 300 <= status < 400 else ""
        self._said = f"HTTP {status} {response.reason_phrase}{to}{hint}" if status >= 300 else ""

    def reason(self) -> str:
        """The refusal, "" when there was none."""
        return self._said


@asynccontextmanager
async def http_streams(spec: ServerSpec, *, login: Login, answers: Answers) -> AsyncIterator[Any]:
    """Give the two streams of messages of a server at a URL.

    Redirects stay on the server's own origin, so that headers and tokens reach nobody else.

    Args:
        login: keeps the tokens of a login, or makes one now.
    """
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    timeout = httpx2.Timeout(_CONNECT_S, read=spec.call_s)
    auth = await login.provider() if login.wanted else None
    hooks: Any = {"response": [answers.heard, _bounded]}
    try:
        async with (
            httpx2.AsyncClient(headers=dict(spec.headers), timeout=timeout, auth=auth, event_hooks=hooks) as client,
            streamable_http_client(spec.url, http_client=client) as streams,
        ):
            yield streams
    finally:
        await login.close()


async def _bounded(response: Any) -> None:
    """Give up on an answer that does not end; a stream of events is bounded event by event."""
    if "text/event-stream" not in response.headers.get("content-type", ""):
        response.stream = _bound(response.stream)


def _bound(stream: Any) -> Any:
    """A body that may not grow beyond all bounds."""
    import httpx2

    class _Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in stream:
                size += len(chunk)
                if size > _MOST_BYTES:
                    raise httpx2.ReadError(f"the answer has more than {_MOST_BYTES:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    return _Bounded()
