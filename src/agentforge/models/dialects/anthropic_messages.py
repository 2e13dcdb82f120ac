"""The Anthropic messages dialect. Pure: no I/O lives here.

Source: https://docs.anthropic.com/en/api/messages and .../messages-streaming
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentforge.errors import ModelReplyBroken
from agentforge.messages import FinishReason, Message, ModelRequest, ToolCall, Usage
from agentforge.models.dialects.dialect import (
    Answer,
    Dialect,
    Payload,
    arguments_object,
    as_count,
    base64_of,
    counted,
    joined,
    parse_object,
    raise_reported_error,
)

_VERSION = "2023-06-01"
_MAX_MARKERS = 4
_MARKER = {"type": "ephemeral"}
_BUDGETS = {"low": 2_048, "medium": 8_192, "high": 24_576}
"""Tokens of thinking; the provider takes no less than 1,024."""

_FINISH: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


def endpoint(base_url: str) -> str:
    """Where requests go; the base URL may end in `/v1` or not."""
    base = base_url.rstrip("/").removesuffix("/messages").removesuffix("/v1")
    return f"{base}/v1/messages"


def headers(api_key: str) -> dict[str, str]:
    """HTTP headers of a request."""
    fixed = {"anthropic-version": _VERSION}
    return {**fixed, "x-api-key": api_key} if api_key else fixed


def encode(request: ModelRequest, name: str) -> Payload:
    """The JSON body of a request, with cache markers on the last tool and on the stable pieces."""
    body: Payload = {
        "model": name,
        "max_tokens": request.max_output_tokens,
        "stream": True,
        "messages": _encode_messages(request.messages),
    }
    system = [block for message in request.messages if message.role == "system" for block in _text_blocks(message)]
    if system:
        body["system"] = system
    if request.tools:
        tools: list[Payload] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
        tools[-1]["cache_control"] = _MARKER
        body["tools"] = tools
    if request.reasoning and not _has_lost_thinking(request):  # it takes no temperature, its tokens count as output
        budget = _BUDGETS[request.reasoning]
        body["thinking"] = {"type": "enabled", "budget_tokens": budget}
        body["max_tokens"] += budget
    elif request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stop:
        body["stop_sequences"] = list(request.stop)
    _drop_surplus_markers(body)
    return body


def _has_lost_thinking(request: ModelRequest) -> bool:
    """Whether calls are sent back without the thinking they came from, which the provider refuses while it thinks."""
    return any(message.tool_calls and not message.kept for message in request.messages)


def read_body(payload: Payload) -> Answer:
    """Read a reply that came as one JSON body.

    Raises:
        ModelError: the body reports an error or holds no stop reason.
    """
    raise_reported_error(payload)
    reader = MessageReader()
    reader.take({"type": "message_start", "message": payload})
    content = payload.get("content")
    for index, block in enumerate(content if isinstance(content, list) else []):
        reader.take({"type": "content_block_start", "index": index, "content_block": block})
    reader.take({"type": "message_delta", "delta": payload})
    return reader.answer()


@dataclass(slots=True)
class _Block:
    kind: str
    pieces: list[str] = field(default_factory=list)
    call_id: str = ""
    name: str = ""
    given: object = None
    seal: str = ""


class MessageReader:
    """Collects the events of one message."""

    def __init__(self) -> None:
        self.ended = False
        self._blocks: dict[object, _Block] = {}
        self._thinking: list[str] = []
        self._told = 0
        self._usage: Payload = {}
        self._finish = ""

    def feed(self, data: str) -> str:
        """Take the data of one event; return the text that it adds."""
        return self.take(parse_object(data))

    def take(self, event: Payload) -> str:
        """Take one parsed event; return the text that it adds. Events of unknown type are left alone."""
        raise_reported_error(event)
        kind = event.get("type")
        if kind == "content_block_delta":
            return self._take_delta(event.get("index"), _object(event.get("delta")))
        if kind == "content_block_start":
            return self._open_block(event.get("index"), _object(event.get("content_block")))
        if kind == "message_start":
            self._take_usage(_object(event.get("message")).get("usage"))
        elif kind == "message_delta":
            self._finish = str(_object(event.get("delta")).get("stop_reason") or self._finish)
            self._take_usage(event.get("usage"))
        elif kind == "message_stop":
            self.ended = True
        return ""

    def thought(self) -> str:
        """Give what the model thought since this was asked last, "" for nothing."""
        told, self._told = self._told, len(self._thinking)
        return "".join(self._thinking[told:])

    def unfinished(self) -> tuple[str, ...]:
        """The text as long as no stop reason was seen."""
        return () if self._finish else (self._joined("text"),)

    def cut(self) -> None:
        """Nothing more is read."""
        self._finish = self._finish or "max_tokens"

    def answer(self) -> Answer:
        """Give the whole reply.

        Raises:
            ModelReplyBroken: no stop reason was seen.
        """
        if not self._finish:
            raise ModelReplyBroken("the reply ended without a stop reason")
        return Answer(
            text=self._joined("text"),
            thinking=self._joined("thinking"),
            tool_calls=tuple(_tool_call(block) for block in self._blocks.values() if block.kind == "tool_use"),
            finish=_FINISH.get(self._finish, "stop"),
            usage=_inclusive_usage(self._usage) if self._usage else None,
            kept=tuple(kept for block in self._blocks.values() if (kept := _sealed(block)) is not None),
        )

    def _open_block(self, index: object, block: Payload) -> str:
        kind = str(block.get("type") or "")
        opened = _Block(
            kind=kind,
            call_id=str(block.get("id") or ""),
            name=str(block.get("name") or ""),
            given=block.get("input"),
            seal=str(block.get("signature") or block.get("data") or ""),
        )
        self._blocks[index] = opened
        text = str(block.get(kind) or "") if kind in {"text", "thinking"} else ""
        opened.pieces.append(text)
        self._thinking += [text] if kind == "thinking" else []
        return text if kind == "text" else ""

    def _take_delta(self, index: object, delta: Payload) -> str:
        block = self._blocks.get(index)
        if block is None:
            raise ModelReplyBroken(f"the provider sent a piece of block {index!r}, which it never began")
        block.seal += str(delta.get("signature") or "")
        key = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
        piece = str(delta.get(key.get(str(delta.get("type")), "")) or "")
        block.pieces.append(piece)
        self._thinking += [piece] if block.kind == "thinking" else []
        return piece if block.kind == "text" else ""

    def _take_usage(self, usage: object) -> None:
        self._usage.update({key: value for key, value in _object(usage).items() if value is not None})

    def _joined(self, kind: str) -> str:
        return joined(piece for block in self._blocks.values() if block.kind == kind for piece in block.pieces)


def _encode_messages(messages: tuple[Message, ...]) -> list[Payload]:
    """Roles in turn: the tool results after an assistant message, and what the user says then, are ONE user message."""
    encoded: list[Payload] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if encoded and encoded[-1]["role"] == role:
            encoded[-1]["content"].extend(blocks)
        elif blocks:  # the provider refuses a message without content
            encoded.append({"role": role, "content": blocks})
    return encoded


def _blocks(message: Message) -> list[Payload]:
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": _text_blocks(message)}]
    calls = [
        {"type": "tool_use", "id": call.call_id, "name": call.name, "input": arguments_object(call.arguments)}
        for call in message.tool_calls
    ]
    pictures = [
        {"type": "image", "source": {"type": "base64", "media_type": one.media_type, "data": base64_of(one)}}
        for one in message.pictures
    ]
    return [*map(dict, message.kept), *pictures, *_text_blocks(message), *calls]


def _text_blocks(message: Message) -> list[Payload]:
    """Text pieces as blocks; the provider refuses empty ones, and blank ones where nothing else is said."""
    return [
        {"type": "text", "text": part.text, **({"cache_control": _MARKER} if part.stable else {})}
        for part in message.parts
        if part.text.strip()
    ]


def _drop_surplus_markers(body: Payload) -> None:
    """Keep four markers, which is all that the provider takes: the tools' and the last ones, which cover the most."""
    room = _MAX_MARKERS - (1 if body.get("tools") else 0)
    texts = [*body.get("system", []), *(block for message in body["messages"] for block in _nested(message))]
    marked = [block for block in texts if "cache_control" in block]
    for block in marked[: max(0, len(marked) - room)]:
        del block["cache_control"]


def _nested(message: Payload) -> list[Payload]:
    return [
        inner
        for block in message["content"]
        for inner in (block["content"] if block["type"] == "tool_result" else [block])
    ]


def _sealed(block: _Block) -> Payload | None:
    """A block of thinking as the provider wants it back; one without its signature would be refused."""
    if block.kind == "thinking" and block.seal:
        return {"type": "thinking", "thinking": joined(block.pieces), "signature": block.seal}
    return {"type": "redacted_thinking", "data": block.seal} if block.kind == "redacted_thinking" else None


def _tool_call(block: _Block) -> ToolCall:
    arguments = joined(block.pieces) or (json.dumps(block.given) if block.given else "{}")
    return ToolCall(call_id=block.call_id, name=block.name, arguments=arguments)


def _inclusive_usage(usage: Payload) -> Usage | None:
    """Our `prompt_tokens` includes cache reads and writes; the provider's `input_tokens` does not."""
    read, written = as_count(usage.get("cache_read_input_tokens")), as_count(usage.get("cache_creation_input_tokens"))
    new = counted(usage.get("input_tokens"), usage.get("output_tokens"))
    return new and counted(new.prompt_tokens + read + written, new.completion_tokens, cached=read, written=written)


def _object(value: object) -> Payload:
    return value if isinstance(value, dict) else {}


ANTHROPIC_MESSAGES = Dialect(
    endpoint=endpoint, headers=headers, encode=encode, reader=MessageReader, read_body=read_body
)
