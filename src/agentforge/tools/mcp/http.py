"""The way to a server over HTTP: its headers, its time limits, answers of bounded size, and a login where it wants one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentforge.tools.mcp.oauth import Login
    from agentforge.tools.mcp.spec import ServerSpec

_CONNECT_S = 20.0
_MOST_BYTES = 16 * 1024 * 1024


@asynccontextmanager
async def http_streams(spec: ServerSpec, *, login: Login) -> AsyncIterator[Any]:
    """Give the two streams of messages of a server at a URL.

    Redirects stay on the server's own origin, so that headers and tokens reach nobody else.

    Args:
        login: keeps the tokens of a login, or makes one now.
    """
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    timeout = httpx2.Timeout(_CONNECT_S, read=spec.call_s)
    auth = await login.provider() if login.wanted else None
    hooks: Any = {"response": [_bounded]}
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
        response.stream = _Bounded(response.stream)


class _Bounded:
    """A body that may not grow beyond all bounds."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > _MOST_BYTES:
                raise ConnectionError(f"the answer has more than {_MOST_BYTES:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        """Close the body."""
        await self._stream.aclose()
