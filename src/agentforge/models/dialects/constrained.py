"""Tool calls that are decoded by a grammar: for servers that enforce a JSON schema, and whose models call tools badly.

In a stage every reply is made of calls. Instead of tools such a server is given one schema, made from the schemas of the
tools and so from the stage's contract: what comes back is calls that fit it, whatever the model would have written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from agentforge.messages import Message, ModelReply, ModelRequest, Text, ToolCall, ToolSchema
from agentforge.models.api.hosted import HostedModel

_MARK = "submit_artifact"
"""The tool by which a stage's artifact is handed in: where it is offered, every reply calls tools."""
_MOST_CALLS = 4


class ConstrainedModel:
    """A model whose calls of a stage's tools are constrained; every other request goes through as it is."""

    def __init__(self, model: HostedModel) -> None:
        self.name = model.name
        self._model = model

    @property
    def abilities(self) -> frozenset[str]:
        """What the server can do."""
        return self._model.abilities

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Ask for one reply; text that holds calls becomes calls."""
        if not self._constrains(request):
            return self._model.complete(request, on_delta=on_delta)
        reply = self._model.complete(constrained(request), on_delta=on_delta)
        calls = calls_in(reply.text)
        return replace(reply, text="", tool_calls=calls, finish="tool_calls") if calls else reply

    def body(self, request: ModelRequest) -> bytes:
        """The bytes that go over the wire for a request."""
        return self._model.body(constrained(request) if self._constrains(request) else request)

    def close(self) -> None:
        """Close the model."""
        self._model.close()

    def _constrains(self, request: ModelRequest) -> bool:
        offered = any(tool.name == _MARK for tool in request.tools)
        return offered and request.json_schema is None and "json_schema" in self._model.abilities


def constrained(request: ModelRequest) -> ModelRequest:
    """The request with a schema of calls in the place of its tools. Pure."""
    first, *others = request.messages
    told = Text(text=f"\n\n{_told(request.tools)}", stable=True)
    head = replace(first, parts=(*first.parts, told)) if first.role == "system" else first
    opening = (head,) if first.role == "system" else (Message(role="system", parts=(told,)), head)
    messages = (*opening, *(_plain(message) for message in others))
    return replace(request, messages=messages, tools=(), json_schema=_schema(request.tools))


def calls_in(text: str) -> tuple[ToolCall, ...]:
    """The calls of a constrained answer; none where it was cut off."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    calls = value.get("calls") if isinstance(value, Mapping) else None
    listed = calls if isinstance(calls, list) else []
    rows = [row for row in listed if isinstance(row, Mapping) and isinstance(row.get("name"), str)]
    return tuple(
        ToolCall(
            call_id=f"call_{number}",
            name=row["name"],
            arguments=json.dumps(row.get("arguments") or {}, ensure_ascii=False),
        )
        for number, row in enumerate(rows)
    )


def _schema(tools: Iterable[ToolSchema]) -> dict[str, object]:
    kinds = [
        {
            "type": "object",
            "properties": {"name": {"const": tool.name}, "arguments": tool.parameters},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    calls = {"type": "array", "items": {"anyOf": kinds}, "minItems": 1, "maxItems": _MOST_CALLS}
    return {"type": "object", "properties": {"calls": calls}, "required": ["calls"], "additionalProperties": False}


def _told(tools: Iterable[ToolSchema]) -> str:
    rows = [
        f"- {tool.name}: {tool.description} Arguments: {json.dumps(tool.parameters, ensure_ascii=False)}"
        for tool in tools
    ]
    return "\n".join(('Answer with JSON alone: {"calls": [{"name": TOOL, "arguments": {...}}]}. The tools:', *rows))


def _plain(message: Message) -> Message:
    """A message of the history without the forms of tool calls, which the template of a small model may not know."""
    if message.role == "tool":
        return Message(role="user", parts=(Text(text="Result: "), *message.parts))
    if not message.tool_calls:
        return message
    calls = [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls]
    text = json.dumps({"calls": calls}, ensure_ascii=False)
    return Message(role="assistant", parts=(*message.parts, Text(text=text)))
