"""The connection to a local model's server: found or started for every request, and leased until its reply was read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from types import TracebackType
from urllib.parse import urlsplit

from agentforge.errors import ModelReplyBroken, ModelUnavailable
from agentforge.local import Wanted, leased, wait_for_end
from agentforge.models.transport.connection import REPLY_TIMEOUT_S, HttpConnection, Response

NOWHERE = "http://localhost/v1"
"""The address that requests are made out to; where the server listens is known when it is asked."""


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
