"""A model behind HTTP: a dialect, a wire, and the way from a response to a reply."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from agentforge.cancellation import pause
from agentforge.canonical import digest_bytes
from agentforge.errors import ModelNotConfigured, ModelReplyBroken, ModelReplyEndless, ModelRequestRejected
from agentforge.messages import Message, ModelReply, ModelRequest, Usage
from agentforge.models.api.abilities import of_provider, refused, unseen, used, within
from agentforge.models.api.model import ModelSpec, think_aloud
from agentforge.models.api.prices import estimate_usage
from agentforge.models.dialects.dialect import Answer, Dialect, StreamReader, parse_object
from agentforge.models.dialects.refusals import ABOUT_STREAM
from agentforge.models.transport.connection import Connection, HttpConnection, Response
from agentforge.models.transport.wire import EventSplitter, Wire

LEAST = 900
"""Characters at the end that must be one piece again and again."""

_LONGEST_PIECE = 220


def repeats_itself(text: str) -> bool:
    """Whether the end of a text is nothing but one piece of at most 220 characters, at least four times."""
    tail = text[-LEAST:]
    if len(tail) < LEAST:
        return False
    return any(tail[piece:] == tail[:-piece] for piece in range(1, _LONGEST_PIECE + 1))


_SPARE_BYTES = 500_000
_TOKEN_BYTES = 600
"""A streamed token with everything that servers wrap around it."""
_SPARE_TOKENS = 100_000
"""What a provider may add to a prompt, or a model may think, without being asked: no token is shorter than a byte."""
_SPARE_TIMES = 10
_SILENT_TIMES = 4
"""Comments of a stream that keep the connection alive are waited through for so many times the longest silence."""
_LOOK_EVERY = 32
"""Chunks after which a small model's text is looked at again."""

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
        sleep: Callable[[float], None] = pause,
    ) -> None:
        self.name = spec.full_name
        self._spec = spec
        self._dialect = dialect
        self._url = dialect.endpoint(spec.base_url or base_url)
        self._headers = {**_FIXED_HEADERS, **dialect.headers(_sendable_key(spec))}
        connection = connection or HttpConnection(
            read_timeout_s=spec.read_timeout_s, reply_timeout_s=spec.reply_timeout_s
        )
        self._wire = Wire(connection, model=self.name, secret=spec.api_key, sleep=sleep)
        self.abilities = of_provider(spec.provider) if spec.abilities is None else spec.abilities
        """What the server can do, less what it has refused so far."""
        self._streams = True

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Ask the server for one reply, and again for the samples that it did not give."""
        reply = self._learning(request, on_delta)
        while len(reply.samples) < request.samples:
            missing = request.samples - len(reply.samples)
            seed = None if request.seed is None else request.seed + len(reply.samples)
            if missing == request.samples - 1:
                self.abilities -= {"samples"}
            more = self._learning(replace(request, samples=missing, seed=seed), None)
            reply = _joined_replies(reply, more)
        return reply

    def body(self, request: ModelRequest) -> bytes:
        """The bytes that go over the wire for a request."""
        within = self._within_spec(request)
        encoded = self._dialect.encode(within, self._spec.name)
        if within.prefill and "prefill" not in self.abilities:
            encoded |= {"add_generation_prompt": False, "continue_final_message": True}
        if not self._streams:
            encoded = {**encoded, "stream": False}
            encoded.pop("stream_options", None)
        return json.dumps(encoded, separators=(",", ":")).encode("ascii")

    def close(self) -> None:
        """Close the connection to the server."""
        self._wire.close()

    def _learning(self, request: ModelRequest, on_delta: Callable[[str], None] | None) -> ModelReply:
        """Ask once; where the server refuses what goes beyond plain chat, ask without it, now and from now on."""
        wasted = 0
        while True:
            try:
                reply = self._ask(request, on_delta)
                return replace(reply, requests=reply.requests + wasted)
            except ModelRequestRejected as exc:
                lost = refused(exc.message, used(request, self.abilities))
                if not lost and (exc.hint != ABOUT_STREAM or not self._streams):
                    raise
                self._streams &= exc.hint != ABOUT_STREAM
                self.abilities -= lost
                wasted += exc.requests

    def _ask(self, request: ModelRequest, on_delta: Callable[[str], None] | None) -> ModelReply:
        started = time.monotonic()
        not_seen = unseen(request, sees="images" in self.abilities)
        request, body = self._within_spec(request), self.body(request)
        answer, requests = self._wire.exchange(
            self._url, body, headers=self._headers, read=lambda response: self._read(response, request, on_delta)
        )
        written, told = "".join((answer.text, *answer.others)), _believable(answer.usage, request, len(body))
        return ModelReply(
            text=_whole(answer.text, request.prefill),
            tool_calls=answer.tool_calls,
            finish=answer.finish,
            usage=told or estimate_usage(request, written, answer.thinking, answer.tool_calls),
            model=self.name,
            thinking=answer.thinking,
            requests=requests,
            duration_ms=round((time.monotonic() - started) * 1000),
            usage_reported=told is not None,
            sent=digest_bytes(body),
            others=tuple(_whole(text, request.prefill) for text in answer.others),
            unseen=not_seen,
            kept=tuple({"by": self.name, "block": block} for block in answer.kept),
        )

    def _within_spec(self, request: ModelRequest) -> ModelRequest:
        limit, temperature = self._spec.max_output_tokens, request.temperature
        known = within(request, self.abilities)
        return replace(
            known,
            max_output_tokens=min(limit or request.max_output_tokens, request.max_output_tokens),
            temperature=self._spec.temperature if temperature is None else temperature,
            reasoning=request.reasoning or self._spec.reasoning,
            messages=tuple(self._own(message) for message in known.messages),
        )

    def _own(self, message: Message) -> Message:
        """A message with those kept blocks that this model wrote, as it wrote them: no other could read them."""
        if not message.kept:
            return message
        return replace(message, kept=tuple(one["block"] for one in message.kept if one.get("by") == self.name))

    def _read(self, response: Response, request: ModelRequest, on_delta: Callable[[str], None] | None) -> Answer:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "application/json":  # servers that do not stream answer in one piece
            answer = self._dialect.read_body(parse_object(_whole_text(response)))
            if on_delta is not None and answer.text:
                on_delta(answer.text)
            return answer
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            raise ModelRequestRejected(
                f"{self.name} answers in {encoding}, which AgentForge did not ask for",
                hint="does a proxy stand in between?",
            )
        try:
            return self._read_stream(_bounded(response, request, self.name), on_delta)
        except ModelReplyBroken as exc:
            if kind != "text/html":
                raise
            hint = "check the base URL; a page to log in may stand in between"
            raise ModelReplyBroken(f"{self.name} answers with a web page", hint=hint) from exc

    def _read_stream(self, chunks: Iterator[bytes], on_delta: Callable[[str], None] | None) -> Answer:
        splitter, reader = EventSplitter(), self._dialect.reader()

        def take(events: list[str]) -> None:
            for data in events:
                text = "" if reader.ended else reader.feed(data)
                think_aloud(reader.thought())
                if text and on_delta is not None:
                    on_delta(text)

        looked, heard = _Watch(small=self._spec.profile == "small"), time.monotonic()
        for chunk in chunks:
            events = splitter.feed(chunk)
            take(events)
            now = time.monotonic()
            heard = now if events else heard
            if now - heard > _SILENT_TIMES * self._spec.read_timeout_s:
                raise ModelReplyEndless(
                    f"{self.name} sent only keep-alive messages for {now - heard:.0f} s",
                    hint="try later, or another model",
                )
            if reader.ended:
                break
            if looked.sees_repetition(reader):
                reader.cut()
                break
        take(splitter.close())
        return reader.answer()


def _believable(told: Usage | None, request: ModelRequest, sent: int) -> Usage | None:
    """What the provider says was used, unless no request of `sent` bytes and no reply to it can have used so much."""
    if told is None or told.prompt_tokens > sent + _SPARE_TOKENS:
        return None
    most = _SPARE_TIMES * request.max_output_tokens * max(1, request.samples) + _SPARE_TOKENS
    return None if told.completion_tokens > most else told


def _whole(text: str, prefill: str) -> str:
    """The answer from its beginning: some servers repeat what it was begun with, some do not."""
    return text if text.startswith(prefill) else prefill + text


def _joined_replies(first: ModelReply, more: ModelReply) -> ModelReply:
    one, two = first.usage, more.usage
    return replace(
        first,
        others=(*first.others, *more.samples),
        usage=Usage(
            prompt_tokens=one.prompt_tokens + two.prompt_tokens,
            completion_tokens=one.completion_tokens + two.completion_tokens,
            cached_tokens=one.cached_tokens + two.cached_tokens,
            cache_write_tokens=one.cache_write_tokens + two.cache_write_tokens,
        ),
        requests=first.requests + more.requests,
        duration_ms=first.duration_ms + more.duration_ms,
        usage_reported=first.usage_reported and more.usage_reported,
    )


class _Watch:
    """Looks from time to time whether a small model only repeats itself; what larger ones repeat is meant."""

    def __init__(self, *, small: bool) -> None:
        self._small = small
        self._chunks = 0

    def sees_repetition(self, reader: StreamReader) -> bool:
        """Whether every sample that is still being written repeats itself."""
        self._chunks += 1
        if not self._small or self._chunks % _LOOK_EVERY:
            return False
        texts = reader.unfinished()
        return bool(texts) and all(repeats_itself(text) for text in texts)


def _sendable_key(spec: ModelSpec) -> str:
    """The key without the line end that copying adds; it is told here, where no message can show the key."""
    key = spec.api_key.strip()
    if not (key.isascii() and key.isprintable()):
        raise ModelNotConfigured(
            f"the API key for {spec.full_name} holds characters that no key has", hint="copy it again"
        )
    return key


def _bounded(response: Response, request: ModelRequest, name: str) -> Iterator[bytes]:
    """The stream, unless it goes on without end: far beyond the tokens that were asked for.

    Raises:
        ModelReplyEndless: it does.
    """
    most, size = _SPARE_BYTES + request.max_output_tokens * _TOKEN_BYTES, 0
    for chunk in response.chunks():
        size += len(chunk)
        if size > most:
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
