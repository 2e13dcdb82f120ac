"""The OpenAI chat completions dialect, as OpenAI and every compatible server speak it. Pure: no I/O lives here.

Source: https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from agentforge.errors import ModelReplyBroken
from agentforge.messages import FinishReason, Message, ModelRequest, Picture, ToolCall, Usage
from agentforge.models.dialects.dialect import (
    Answer,
    Dialect,
    Payload,
    arguments_object,
    as_count,
    counted,
    data_url,
    joined,
    parse_object,
    raise_reported_error,
)

_VERSION = r"v\d+[a-z0-9]*"
_REASONING_NAME = r"o\d|gpt-(?:[5-9]|\d\d)"

_UNREAD = "produced output that does not match the expected"
"""llama.cpp's complaint, after the text was sent, that it found no tool call of the template's form in it: the text is whole."""

_FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


def endpoint(base_url: str) -> str:
    """Where requests go. `http://h:p`, `http://h:p/v1` and any prefix before them are accepted.

    A path without a version segment (`v1`, `v1beta`, ...) gets `/v1`.
    """
    base = base_url.rstrip("/").removesuffix("/chat/completions")
    versioned = any(re.fullmatch(_VERSION, part) for part in urlsplit(base).path.split("/"))
    return f"{base}/chat/completions" if versioned else f"{base}/v1/chat/completions"


def headers(api_key: str) -> dict[str, str]:
    """HTTP headers of a request."""
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}


def encode(request: ModelRequest, name: str) -> Payload:
    """The JSON body of a request."""
    body: Payload = {
        "model": name,
        "messages": [*map(_encode_message, request.messages), *_begun(request)],
        "stream": True,
        "stream_options": {"include_usage": True},
        limit_key(name): request.max_output_tokens,
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in request.tools
        ]
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.reasoning:
        body["reasoning_effort"] = request.reasoning
    return {**body, **_wishes(request)}


def _wishes(request: ModelRequest) -> Payload:
    """What is wished beyond plain chat; a begun answer is the last message."""
    wishes: Payload = {}
    if request.samples > 1:
        wishes["n"] = request.samples
    if request.json_schema is not None:
        form = {"name": "answer", "schema": request.json_schema}
        wishes["response_format"] = {"type": "json_schema", "json_schema": form}
    if request.stop:
        wishes["stop"] = list(request.stop)
    if request.seed is not None:
        wishes["seed"] = request.seed
    return wishes


def limit_key(name: str) -> str:
    """The name of the output limit: OpenAI's reasoning models (`o1`, `o3-mini`, `gpt-5`, ...) refuse `max_tokens`,
    most compatible servers know nothing else. A vendor prefix (`openai/o3`) does not count.
    """
    return "max_completion_tokens" if re.match(_REASONING_NAME, name.rsplit("/", 1)[-1]) else "max_tokens"


def read_body(payload: Payload) -> Answer:
    """Read a reply that came as one JSON body.

    Raises:
        ModelError: the body reports an error or holds no choice with a finish reason.
    """
    reader = ChatReader()
    reader.take(payload, part="message")
    return reader.answer()


@dataclass(slots=True)
class _Call:
    """A call of a tool as its pieces have come so far."""

    call_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class ChatReader:
    """Collects the chunks of one chat completion."""

    def __init__(self) -> None:
        self.ended = False
        self._text: list[str] = []
        self._others: dict[int, list[str]] = {}
        self._finished: set[int] = set()
        self._thinking: list[str] = []
        self._told = 0
        self._details: list[object] = []
        self._named = False
        self._calls: list[_Call] = []
        self._slots: dict[object, _Call] = {}
        self._finish = ""
        self._usage: Usage | None = None

    def feed(self, data: str) -> str:
        """Take one chunk (the data of an event); return the text that it adds."""
        if data.strip() == "[DONE]":
            self.ended = True
            return ""
        return self.take(parse_object(data), part="delta")

    def take(self, payload: Payload, *, part: str) -> str:
        """Take a parsed chunk (`part` = "delta") or a whole body (`part` = "message"); return the text that it adds."""
        if _UNREAD in str(payload.get("error")):
            self._finish, self.ended = self._finish or "stop", True
            return ""
        raise_reported_error(payload)
        if isinstance(payload.get("usage"), dict):
            self._usage = _read_usage(payload["usage"])
        choices = payload.get("choices")
        if not isinstance(choices, list):
            return ""  # the last chunk carries usage and no choice
        return "".join(self._take_choice(choice, part) for choice in choices if isinstance(choice, dict))

    def thought(self) -> str:
        """Give what the model thought since this was asked last, "" for nothing."""
        told, self._told = self._told, len(self._thinking)
        return "".join(self._thinking[told:])

    def unfinished(self) -> tuple[str, ...]:
        """The samples that are still being written."""
        samples = {0: self._text, **self._others}
        return tuple("".join(pieces) for index, pieces in samples.items() if index not in self._finished)

    def cut(self) -> None:
        """Nothing more is read."""
        self._finish = self._finish or "length"

    def answer(self) -> Answer:
        """Give the whole reply.

        Raises:
            ModelReplyBroken: no finish reason was seen.
        """
        if not self._finish:
            raise ModelReplyBroken("the reply ended without a finish reason")
        calls = tuple(
            ToolCall(call_id=call.call_id or f"call_{number}", name=call.name, arguments=joined(call.arguments) or "{}")
            for number, call in enumerate(self._calls)
        )
        finish = _FINISH.get(self._finish, "stop")
        return Answer(
            text=joined(self._text),
            thinking=joined(self._thinking),
            tool_calls=calls,
            finish="tool_calls" if calls and finish == "stop" else finish,  # several servers say "stop" with calls
            usage=_at_least(self._usage, self._others, self._text),
            others=tuple(joined(self._others[index]) for index in sorted(self._others)),
            kept=self._kept() if calls else (),
        )

    def _kept(self) -> tuple[Payload, ...]:
        """Reasoning that has to come back with the calls it led to: OpenRouter's details, DeepSeek's text."""
        if self._details:
            return ({"reasoning_details": self._details},)
        return ({"reasoning_content": joined(self._thinking)},) if self._named else ()

    def _take_choice(self, choice: Payload, part: str) -> str:
        """Take a piece of a sample; only the first sample may call tools, and only its text is told."""
        delta, index = choice.get(part), as_count(choice.get("index"))
        self._finished |= {index} if choice.get("finish_reason") else set()
        if index == 0:
            self._finish = str(choice.get("finish_reason") or self._finish)
            return self._take_delta(delta) if isinstance(delta, dict) else ""
        text = _content_text(delta.get("content")) if isinstance(delta, dict) else ""
        self._others.setdefault(index, []).append(text)
        return ""

    def _take_delta(self, delta: Payload) -> str:
        thinking = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thinking, str):
            self._thinking.append(thinking)
        self._named = self._named or bool(delta.get("reasoning_content"))
        details = delta.get("reasoning_details")
        self._details += details if isinstance(details, list) else []
        for call in delta.get("tool_calls") or ():
            if isinstance(call, dict):
                self._take_call(call)
        text = _content_text(delta.get("content")) + _content_text(delta.get("refusal"))
        self._text.append(text)
        return text

    def _take_call(self, delta: Payload) -> None:
        function = delta.get("function")
        function = function if isinstance(function, dict) else {}
        call = self._slot(delta.get("index"), str(delta.get("id") or ""))
        call.name = call.name or str(function.get("name") or "")
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # servers that forget that arguments are text
            call.arguments.append(json.dumps(arguments))
        elif isinstance(arguments, str):
            call.arguments.append(arguments)

    def _slot(self, index: object, call_id: str) -> _Call:
        """The call that a piece belongs to; some servers give no index, or 0 for every call, and tell them by id."""
        known = self._slots.get(index) if index is not None else None
        if known is None and index is None and self._calls and not call_id:
            known = self._calls[-1]
        if known is None or (call_id and known.call_id and call_id != known.call_id):
            known = next((call for call in self._calls if call_id and call.call_id == call_id), None)
        if known is None:
            known = _Call()
            self._calls.append(known)
        known.call_id = known.call_id or call_id
        self._slots[index] = known
        return known


def _begun(request: ModelRequest) -> list[Payload]:
    return [{"role": "assistant", "content": request.prefill}] if request.prefill else []


def _encode_message(message: Message) -> Payload:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
    if message.pictures:
        return {"role": message.role, "content": [*_text_part(message.text), *map(_image_part, message.pictures)]}
    if not message.tool_calls:
        return {"role": message.role, "content": message.text}
    calls = [
        {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": sent_arguments(call)}}
        for call in message.tool_calls
    ]
    kept = {key: value for block in message.kept for key, value in block.items()}
    return {"role": message.role, "content": message.text or None, "tool_calls": calls, **kept}


def _text_part(text: str) -> list[Payload]:
    return [{"type": "text", "text": text}] if text.strip() else []


def _image_part(picture: Picture) -> Payload:
    return {"type": "image_url", "image_url": {"url": data_url(picture)}}


def sent_arguments(call: ToolCall) -> str:
    """The arguments of a call, verbatim where they are an object: other bytes would cost the provider's prefix cache."""
    value = arguments_object(call.arguments)
    return json.dumps(value) if not value or set(value) == {"raw"} else call.arguments


def _content_text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return ""


def _at_least(usage: Usage | None, others: Mapping[int, list[str]], first: list[str]) -> Usage | None:
    """The usage, where a server counts the tokens of one sample only: every streamed piece is a token or more."""
    if usage is None or not others:
        return usage
    pieces = sum(1 for texts in (first, *others.values()) for text in texts if text)
    return replace(usage, completion_tokens=max(usage.completion_tokens, pieces))


def _read_usage(usage: Payload) -> Usage | None:
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else usage.get("prompt_cache_hit_tokens")
    return counted(usage.get("prompt_tokens"), usage.get("completion_tokens"), cached=cached)


OPENAI_CHAT = Dialect(endpoint=endpoint, headers=headers, encode=encode, reader=ChatReader, read_body=read_body)
