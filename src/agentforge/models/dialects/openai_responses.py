"""The OpenAI Responses dialect. Nothing is stored at the provider: reasoning comes back sealed and is sent again. Pure: no I/O.

Source: https://platform.openai.com/docs/api-reference/responses and .../responses-streaming

Which of OpenAI's two wire formats a server is spoken with in; the second is loaded only when it is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from agentforge.errors import ModelRateLimited, ModelReplyBroken, ModelUnavailable
from agentforge.messages import FinishReason, Message, ModelRequest, ToolCall, Usage
from agentforge.models.api.model import ModelSpec
from agentforge.models.dialects.dialect import (
    Answer,
    Dialect,
    Payload,
    counted,
    data_url,
    joined,
    parse_object,
    raise_reported_error,
)
from agentforge.models.dialects.openai_chat import OPENAI_CHAT, headers, sent_arguments

_CUT: Mapping[str, FinishReason] = {"max_output_tokens": "length", "content_filter": "content_filter"}
_PASSING = {"rate_limit_exceeded": ModelRateLimited, "server_error": ModelUnavailable}
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def endpoint(base_url: str) -> str:
    """Where requests go; the base URL may end in `/v1` or not."""
    base = base_url.rstrip("/").removesuffix("/responses")
    versioned = any(part[:1] == "v" and part[1:2].isdigit() for part in urlsplit(base).path.split("/"))
    return f"{base}/responses" if versioned else f"{base}/v1/responses"


def encode(request: ModelRequest, name: str) -> Payload:
    """The JSON body of a request."""
    body: Payload = {
        "model": name,
        "input": [item for message in request.messages for item in _items(message)],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": request.max_output_tokens,
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in request.tools
        ]
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.reasoning:
        body["reasoning"] = {"effort": request.reasoning, "summary": "auto"}
    if request.json_schema is not None:
        form = {"type": "json_schema", "name": "answer", "schema": request.json_schema, "strict": False}
        body["text"] = {"format": form}
    return body


def read_body(payload: Payload) -> Answer:
    """Read a reply that came as one JSON body.

    Raises:
        ModelError: the body reports an error or is not at its end.
    """
    reader = ResponseReader()
    reader.take({"type": f"response.{payload.get('status') or 'unknown'}", "response": payload})
    return reader.answer()


class ResponseReader:
    """Collects the events of one response; what counts is the whole response at its end."""

    def __init__(self) -> None:
        self.ended = False
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._told = 0
        self._items: list[Payload] = []
        self._final: Payload | None = None
        self._is_cut = False

    def feed(self, data: str) -> str:
        """Take the data of one event; return the text that it adds."""
        return "" if data.strip() == "[DONE]" else self.take(parse_object(data))

    def take(self, event: Payload) -> str:
        """Take one parsed event; return the text that it adds. Events of unknown type are left alone."""
        kind = str(event.get("type") or "")
        if kind == "error":
            raise_reported_error({"error": event.get("error") or event})
        if kind in {"response.output_text.delta", "response.refusal.delta"}:
            text = str(event.get("delta") or "")
            self._text.append(text)
            return text
        if kind == "response.reasoning_summary_text.delta":
            self._thinking.append(str(event.get("delta") or ""))
        elif kind == "response.output_item.done":
            self._items.append(_object(event.get("item")))
        elif kind in _ENDS:
            self._final, self.ended = _object(event.get("response")), True
            _raise_failure(self._final)
        return ""

    def thought(self) -> str:
        """Give what the model thought since this was asked last, "" for nothing."""
        told, self._told = self._told, len(self._thinking)
        return "".join(self._thinking[told:])

    def unfinished(self) -> tuple[str, ...]:
        """The text as long as the response is not at its end."""
        return () if self.ended else ("".join(self._text),)

    def cut(self) -> None:
        """Nothing more is read."""
        self._is_cut = True

    def answer(self) -> Answer:
        """Give the whole reply.

        Raises:
            ModelReplyBroken: the response did not come to its end.
        """
        if self._final is None and not self._is_cut:
            raise ModelReplyBroken("the reply ended without its last event")
        final = self._final or {}
        output = final.get("output")
        items = [_object(item) for item in output] if isinstance(output, list) and output else self._items
        calls = tuple(_call(item, index) for index, item in enumerate(items) if item.get("type") == "function_call")
        text = joined(_texts(items)) or joined(self._text)
        return Answer(
            text=text,
            thinking=joined(self._thinking) or joined(_summaries(items)),
            tool_calls=calls,
            finish=self._finish(final, items, calls),
            usage=_usage(final["usage"]) if isinstance(final.get("usage"), dict) else None,
            kept=tuple(_reasoning(item) for item in items if item.get("type") == "reasoning") if calls else (),
        )

    def _finish(self, final: Payload, items: list[Payload], calls: tuple[ToolCall, ...]) -> FinishReason:
        if self._is_cut:
            return "length"
        if final.get("status") == "incomplete":
            return _CUT.get(str(_object(final.get("incomplete_details")).get("reason")), "length")
        if any(part.get("type") == "refusal" for item in items for part in _content(item)):
            return "content_filter"
        return "tool_calls" if calls else "stop"


def _items(message: Message) -> list[Payload]:
    """A message as input items: sealed reasoning stands before what it led to."""
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": message.tool_call_id, "output": message.text}]
    kind = "output_text" if message.role == "assistant" else "input_text"
    content: list[Payload] = [{"type": kind, "text": message.text}] if message.text.strip() else []
    content += [{"type": "input_image", "image_url": data_url(one)} for one in message.pictures]
    said = [{"role": message.role, "content": content}] if content else []
    calls = [
        {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": sent_arguments(call)}
        for call in message.tool_calls
    ]
    return [*map(dict, message.kept), *said, *calls]


def _call(item: Payload, index: int) -> ToolCall:
    return ToolCall(
        call_id=str(item.get("call_id") or item.get("id") or f"call_{index}"),
        name=str(item.get("name") or ""),
        arguments=str(item.get("arguments") or "{}"),
    )


def _reasoning(item: Payload) -> Payload:
    """What has to come back: not the id, which names something that the provider was told not to store."""
    return {key: item[key] for key in ("type", "summary", "encrypted_content") if key in item}


def _content(item: Payload) -> list[Payload]:
    content = item.get("content")
    return [_object(part) for part in content] if isinstance(content, list) else []


def _texts(items: list[Payload]) -> list[str]:
    messages = [item for item in items if item.get("type") == "message"]
    return [str(part.get("text") or part.get("refusal") or "") for item in messages for part in _content(item)]


def _summaries(items: list[Payload]) -> list[str]:
    found = [item.get("summary") for item in items if item.get("type") == "reasoning"]
    return [str(_object(part).get("text") or "") for summary in found if isinstance(summary, list) for part in summary]


def _raise_failure(response: Payload) -> None:
    error = _object(response.get("error"))
    if error:
        kind = _PASSING.get(str(error.get("code") or ""), ModelReplyBroken)
        raise kind(f"the provider broke the reply off: {str(error.get('message') or error)[:300]}")


def _usage(usage: Payload) -> Usage | None:
    cached = _object(usage.get("input_tokens_details")).get("cached_tokens")
    return counted(usage.get("input_tokens"), usage.get("output_tokens"), cached=cached)


def _object(value: object) -> Payload:
    return value if isinstance(value, dict) else {}


OPENAI_RESPONSES = Dialect(
    endpoint=endpoint, headers=headers, encode=encode, reader=ResponseReader, read_body=read_body
)


def dialect_of(spec: ModelSpec) -> Dialect:
    """Chat completions, or responses where `model.api` asks for them."""
    if spec.api != "responses":
        return OPENAI_CHAT

    return OPENAI_RESPONSES
