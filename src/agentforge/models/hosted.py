"""A model behind HTTP: a dialect, a wire, and the way from a response to a reply."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.canonical import digest_bytes
from agentforge.errors import ModelNotConfigured, ModelReplyBroken, ModelReplyEndless
from agentforge.messages import ModelReply
from agentforge.models.connection import HttpConnection
from agentforge.models.dialect import parse_object
from agentforge.models.estimate import estimate_usage
from agentforge.models.sse import EventSplitter
from agentforge.models.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentforge.messages import ModelRequest
    from agentforge.models.connection import Connection, Response
    from agentforge.models.dialect import Answer, Dialect
    from agentforge.models.model import ModelSpec

_SPARE_BYTES = 500_000
_TOKEN_BYTES = 600
"""A streamed token with everything that servers wrap around it."""
_LONGEST_S = 3600.0

_FIXED_HEADERS = {"Content-Type": "application/json", "Accept": "text/event-stream", "User-Agent": "agentforge"}


class HostedModel:
    """A model that a server runs.

    Args:
        base_url: the provider's address, used where `spec` names none.
        connection: the network where None; tests and tapes bring their own.
        sleep: waits between tries.
    Raises:
        ModelNotConfigured: the key cannot be sent.
    """

    def __init__(
        self,
        spec: ModelSpec,
        dialect: Dialect,
        *,
        base_url: str = "",
        connection: Connection | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = spec.full_name
        self._spec = spec
        self._dialect = dialect
        self._url = dialect.endpoint(spec.base_url or base_url)
        self._headers = {**_FIXED_HEADERS, **dialect.headers(_sendable_key(spec))}
        connection = connection or HttpConnection(read_timeout_s=spec.read_timeout_s)
        self._wire = Wire(connection, model=self.name, secret=spec.api_key, sleep=sleep)

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Ask the server for one reply."""
        started = time.monotonic()
        request, body = self._within_spec(request), self.body(request)
        answer, requests = self._wire.exchange(
            self._url, body, headers=self._headers, read=lambda response: self._read(response, request, on_delta)
        )
        return ModelReply(
            text=answer.text,
            tool_calls=answer.tool_calls,
            finish=answer.finish,
            usage=answer.usage or estimate_usage(request, answer.text, answer.thinking, answer.tool_calls),
            model=self.name,
            thinking=answer.thinking,
            requests=requests,
            duration_ms=round((time.monotonic() - started) * 1000),
            usage_reported=answer.usage is not None,
            sent=digest_bytes(body),
        )

    def body(self, request: ModelRequest) -> bytes:
        """The bytes that go over the wire for a request."""
        encoded = self._dialect.encode(self._within_spec(request), self._spec.name)
        return json.dumps(encoded, separators=(",", ":")).encode("ascii")

    def close(self) -> None:
        """Close the connection to the server."""
        self._wire.close()

    def _within_spec(self, request: ModelRequest) -> ModelRequest:
        limit, temperature = self._spec.max_output_tokens, request.temperature
        return replace(
            request,
            max_output_tokens=min(limit or request.max_output_tokens, request.max_output_tokens),
            temperature=self._spec.temperature if temperature is None else temperature,
        )

    def _read(self, response: Response, request: ModelRequest, on_delta: Callable[[str], None] | None) -> Answer:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "application/json":  # servers that do not stream answer in one piece
            answer = self._dialect.read_body(parse_object(_whole_text(response)))
            if on_delta is not None and answer.text:
                on_delta(answer.text)
            return answer
        return self._read_stream(_bounded(response, request, self.name), on_delta)

    def _read_stream(self, chunks: Iterator[bytes], on_delta: Callable[[str], None] | None) -> Answer:
        splitter, reader = EventSplitter(), self._dialect.reader()

        def take(events: list[str]) -> None:
            for data in events:
                text = "" if reader.ended else reader.feed(data)
                if text and on_delta is not None:
                    on_delta(text)

        for chunk in chunks:
            take(splitter.feed(chunk))
            if reader.ended:
                break
        take(splitter.close())
        return reader.answer()


def _sendable_key(spec: ModelSpec) -> str:
    """The key without the line end that copying adds; it is told here, where no message can show the key."""
    key = spec.api_key.strip()
    if not (key.isascii() and key.isprintable()):
        raise ModelNotConfigured(
            f"the API key for {spec.full_name} holds characters that no key has", hint="copy it again"
        )
    return key


def _bounded(response: Response, request: ModelRequest, name: str) -> Iterator[bytes]:
    """The stream, unless it goes on without end: by size far beyond the tokens that were asked for, or by time.

    Raises:
        ModelReplyEndless: it does.
    """
    most, size = _SPARE_BYTES + request.max_output_tokens * _TOKEN_BYTES, 0
    began = time.monotonic()
    for chunk in response.chunks():
        size += len(chunk)
        if size > most or time.monotonic() - began > _LONGEST_S:
            raise ModelReplyEndless(
                f"the reply of {name} does not end: {size} bytes for at most {request.max_output_tokens} tokens",
                hint="ask another model, or raise model.max_output_tokens",
            )
        yield chunk


def _whole_text(response: Response) -> str:
    try:
        return b"".join(response.chunks()).decode("utf-8")
    except UnicodeDecodeError as exc:
        raise ModelReplyBroken("the provider sent a body that is not UTF-8") from exc
