"""What a wire dialect is: pure functions between our messages and a provider's JSON. Each dialect has its own file."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeGuard

from agentforge.errors import ModelError, ModelRateLimited, ModelReplyBroken, ModelUnavailable
from agentforge.frozen import dataclass
from agentforge.messages import FinishReason, ModelRequest, Picture, ToolCall, Usage

Payload = dict[str, Any]
"""A provider's JSON object, as parsed."""

_MOST_TOKENS = 1_000_000_000
_TRANSIENT: Mapping[str, type[ModelError]] = {
    "overloaded_error": ModelUnavailable,
    "api_error": ModelUnavailable,
    "server_error": ModelUnavailable,
    "timeout_error": ModelUnavailable,
    "rate_limit_error": ModelRateLimited,
    "rate_limit_exceeded": ModelRateLimited,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a dialect read from the wire. `usage` is None when the provider sent none; `others` are further samples.

    Attributes:
        kept: blocks that the provider wants back with this reply, as it wrote them.
    """

    text: str
    thinking: str
    tool_calls: tuple[ToolCall, ...]
    finish: FinishReason
    usage: Usage | None
    others: tuple[str, ...] = ()
    kept: tuple[Payload, ...] = ()


def base64_of(picture: Picture) -> str:
    """The bytes of an image as providers take them."""
    return b64encode(picture.data).decode("ascii")


def data_url(picture: Picture) -> str:
    """An image as an address that holds it."""
    return f"data:{picture.media_type};base64,{base64_of(picture)}"


class StreamReader(Protocol):
    """Collects the events of one streamed reply."""

    @property
    def ended(self) -> bool:
        """Whether the provider said that nothing more comes."""

    def feed(self, data: str) -> str:
        """Take the data of one event; return the text that it adds, "" for none.

        Raises:
            ModelError: the event is not JSON, or reports an error.
        """

    def thought(self) -> str:
        """Give what the model thought since this was asked last, "" for nothing."""

    def unfinished(self) -> tuple[str, ...]:
        """The samples that are still being written."""

    def cut(self) -> None:
        """Nothing more is read: what is unfinished counts as cut off for its length."""

    def answer(self) -> Answer:
        """Give what was collected.

        Raises:
            ModelReplyBroken: no finish reason was seen.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One wire format.

    Attributes:
        endpoint: base URL -> URL that requests are posted to.
        headers: API key ("" = none) -> HTTP headers.
        encode: request and model name -> JSON body; always streaming.
        reader: a fresh reader for one streamed reply.
        read_body: a reply that came as one JSON body instead of a stream.
    """

    endpoint: Callable[[str], str]
    headers: Callable[[str], dict[str, str]]
    encode: Callable[[ModelRequest, str], Payload]
    reader: Callable[[], StreamReader]
    read_body: Callable[[Payload], Answer]


def parse_object(text: str) -> Payload:
    """Parse a JSON object that a provider sent.

    Raises:
        ModelReplyBroken: not JSON, or not an object.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ModelReplyBroken(f"the provider sent something that is not JSON: {text[:120]!r}") from exc
    if not isinstance(value, dict):
        raise ModelReplyBroken(f"the provider sent JSON that is not an object: {text[:120]!r}")
    return value


def raise_reported_error(payload: Payload) -> None:
    """Raise what an `{"error": ...}` object inside a reply means; return when there is none.

    Raises:
        ModelUnavailable, ModelRateLimited: the provider names a passing trouble.
        ModelReplyBroken: it names anything else.
    """
    error = payload.get("error")
    if not error:
        return
    if not isinstance(error, dict):
        raise ModelReplyBroken(f"the provider broke the reply off: {str(error)[:300]}")
    said = str(error.get("message") or error)[:300]
    kind = _TRANSIENT.get(str(error.get("type") or ""), ModelReplyBroken)
    code = error.get("code")
    if isinstance(code, int):
        kind = ModelRateLimited if code == 429 else ModelUnavailable if code >= 500 else kind
    raise kind(f"the provider broke the reply off: {said}")


def arguments_object(arguments: str) -> Payload:
    """The arguments of an earlier call as the object that providers insist on when a history is sent back.

    Returns:
        The parsed object; `{}` for empty text; `{"raw": arguments}` for anything that is not a JSON object.
    """
    if not arguments.strip():
        return {}
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {"raw": arguments}
    return value if isinstance(value, dict) else {"raw": arguments}


def joined(pieces: Iterable[str]) -> str:
    """Join streamed pieces into text that UTF-8 can hold.

    Some servers cut an emoji into two JSON escapes and send them in two pieces: joined they are one character again. A
    half that stays alone becomes U+FFFD.
    """
    text = "".join(pieces)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")
    return text


def as_count(value: object) -> int:
    """A count from the wire: a number that a request can cost, anything else is 0."""
    return int(value) if _is_count(value) else 0


def counted(prompt: object, completion: object, *, cached: object = 0, written: object = 0) -> Usage | None:
    """What a reply cost as the wire tells it, `prompt` with what a cache gave and took.

    Returns:
        None where one of the two figures is missing or is no count, or where nothing at all is said to have been used: a budget
        that believed it would see nothing.
    """
    if not (_is_count(prompt) and _is_count(completion) and (prompt or completion)):
        return None
    used = as_count(prompt)
    read = min(as_count(cached), used)
    return Usage(
        prompt_tokens=used,
        completion_tokens=as_count(completion),
        cached_tokens=read,
        cache_write_tokens=min(as_count(written), used - read),
    )


def _is_count(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
