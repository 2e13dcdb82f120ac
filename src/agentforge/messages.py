"""What is said to a model and what it answers, in one form for every provider."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from agentforge.frozen import dataclass

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "tool_calls", "length", "content_filter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A piece of a message.

    Attributes:
        stable: this piece, and all before it, stays the same over the steps of a stage; a provider may cache up to here.
    """

    text: str
    stable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool call as the model wrote it. `arguments` is the raw JSON text: it may be malformed."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An image that goes with a message.

    Attributes:
        name: how it is called, for model and person.
        media_type: such as "image/png".
        digest: of its bytes; what is recorded instead of them.
        data: its bytes, b"" where they were not fetched.
    """

    name: str
    media_type: str
    digest: str
    data: bytes = field(default=b"", repr=False)

    def value(self) -> dict[str, object]:
        """The image as plain data, without its bytes."""
        return {"name": self.name, "media_type": self.media_type, "digest": self.digest}


def picture_from(value: Mapping[str, Any]) -> Picture:
    """The image that `Picture.value` wrote down; its bytes are to be fetched."""
    return Picture(name=str(value["name"]), media_type=str(value["media_type"]), digest=str(value["digest"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message; `tool_call_id` only for role "tool", `tool_calls` and `kept` only for role "assistant".

    Attributes:
        kept: pieces of the reply that only its model can read (signed thinking, sealed reasoning) and wants back with it:
            {by: `provider/name`, block: as the provider wrote it}.
        pictures: images that go with it; only for role "user".
    """

    role: Role
    parts: tuple[Text, ...]
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    kept: tuple[Mapping[str, Any], ...] = ()
    pictures: tuple[Picture, ...] = ()

    @property
    def text(self) -> str:
        """All pieces joined: what the model reads."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSchema:
    """A tool as it is offered: `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """Everything that is sent for one reply.

    Attributes:
        labels: who asks (run, stage, attempt, step); never sent, used by scripted and recorded models and by logs.
        samples: answers wanted to the same prompt, which is read once where the server can do that.
        json_schema: what the text must be valid against; enforced while decoding where the server can do that.
        prefill: how the answer begins; `ModelReply.text` begins with it where the server can go on from it.
        stop: texts at which the answer ends; they are not part of it.
        seed: of the sampling; None = the server's choice.
        reasoning: how much a reasoning model should think: "low", "medium", "high"; "" = the provider's own choice.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    max_output_tokens: int = 4096
    temperature: float | None = None
    labels: Mapping[str, str | int] = field(default_factory=dict)
    samples: int = 1
    json_schema: Mapping[str, object] | None = None
    prefill: str = ""
    stop: tuple[str, ...] = ()
    seed: int | None = None
    reasoning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one reply. `prompt_tokens` includes the cached ones, whatever the provider's own habit."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """One complete answer.

    Attributes:
        model: `provider/name` that answered (a fallback may differ from the one asked).
        requests: HTTP requests that were made for it, retries included.
        usage_reported: False when the provider sent no usage and `usage` is our own estimate.
        sent: SHA-256 of the request's body as it went over the wire, "" where there is no wire.
        others: the texts of the further samples; fewer than were asked for where the server gave fewer.
        kept: see `Message.kept`.
        failed: models of a chain that were asked before the one that answered: {model, slug, message}.
        unseen: names of new images that the model was told of, because it does not see them.
    """

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish: FinishReason
    usage: Usage
    model: str
    thinking: str = ""
    requests: int = 1
    duration_ms: int = 0
    usage_reported: bool = True
    sent: str = ""
    others: tuple[str, ...] = ()
    kept: tuple[Mapping[str, Any], ...] = ()
    failed: tuple[Mapping[str, str], ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def samples(self) -> tuple[str, ...]:
        """The texts of all samples, the first one first."""
        return (self.text, *self.others)


def request_value(request: ModelRequest) -> dict[str, object]:
    """The request as a plain JSON value: what is recorded as "the bytes that were sent", independent of the dialect."""
    return {
        "messages": [_message_value(message) for message in request.messages],
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in request.tools
        ],
        "max_output_tokens": request.max_output_tokens,
        "temperature": request.temperature,
        **_wishes_value(request),
    }


def request_bytes(request: ModelRequest) -> bytes:
    """The request as it is recorded: keys in the order in which they were sent, which canonical bytes would not keep."""
    value = request_value(request)
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def request_from(value: Mapping[str, Any]) -> ModelRequest:
    """The request that `request_value` wrote down."""
    return ModelRequest(
        messages=tuple(_message_from(message) for message in value["messages"]),
        tools=tuple(ToolSchema(**tool) for tool in value["tools"]),
        max_output_tokens=value["max_output_tokens"],
        temperature=value["temperature"],
        samples=value.get("samples", 1),
        json_schema=value.get("json_schema"),
        prefill=value.get("prefill", ""),
        stop=tuple(value.get("stop", ())),
        seed=value.get("seed"),
    )


def reply_value(reply: ModelReply) -> dict[str, object]:
    """The reply as a plain JSON value, for scripts and recordings."""
    return {
        "text": reply.text,
        "thinking": reply.thinking,
        "tool_calls": [
            {"call_id": call.call_id, "name": call.name, "arguments": call.arguments} for call in reply.tool_calls
        ],
        "finish": reply.finish,
        "usage": {
            "prompt_tokens": reply.usage.prompt_tokens,
            "completion_tokens": reply.usage.completion_tokens,
            "cached_tokens": reply.usage.cached_tokens,
            "cache_write_tokens": reply.usage.cache_write_tokens,
        },
        "model": reply.model,
        **({"others": list(reply.others)} if reply.others else {}),
        **({"kept": [dict(one) for one in reply.kept]} if reply.kept else {}),
    }


def _wishes_value(request: ModelRequest) -> dict[str, object]:
    """What is wished beyond the plain form, only where it is: older records keep their digests."""
    wishes: dict[str, object] = {
        "samples": request.samples if request.samples != 1 else None,
        "json_schema": request.json_schema,
        "prefill": request.prefill or None,
        "stop": list(request.stop) or None,
        "seed": request.seed,
    }
    return {name: value for name, value in wishes.items() if value is not None}


def _message_from(value: Mapping[str, Any]) -> Message:
    return Message(
        role=value["role"],
        parts=tuple(Text(**part) for part in value["parts"]),
        tool_calls=tuple(ToolCall(**call) for call in value.get("tool_calls", ())),
        tool_call_id=value.get("tool_call_id"),
        kept=tuple(value.get("kept", ())),
        pictures=tuple(picture_from(one) for one in value.get("pictures", ())),
    )


def _message_value(message: Message) -> dict[str, object]:
    value: dict[str, object] = {
        "role": message.role,
        "parts": [{"text": part.text, "stable": part.stable} for part in message.parts],
    }
    if message.tool_calls:
        value["tool_calls"] = [
            {"call_id": call.call_id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        value["tool_call_id"] = message.tool_call_id
    if message.kept:
        value["kept"] = [dict(one) for one in message.kept]
    if message.pictures:
        value["pictures"] = [one.value() for one in message.pictures]
    return value
