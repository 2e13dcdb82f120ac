"""Proves that the calls of a stage are decoded by a schema made from its tools, and that everything else stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from agentforge.messages import Message, ModelReply, ModelRequest, Text, ToolCall, ToolSchema, Usage
from agentforge.models.dialects.constrained import ConstrainedModel, calls_in, constrained


class Answering:
    """A model that gives one answer and remembers what it was asked."""

    name = "local/m"

    def __init__(self, text: str, abilities: frozenset[str] = frozenset({"json_schema"})) -> None:
        self.abilities = abilities
        self.asked: list[ModelRequest] = []
        self._text = text

    def complete(self, request: ModelRequest, *, on_delta: object = None) -> ModelReply:
        self.asked.append(request)
        return ModelReply(text=self._text, tool_calls=(), finish="stop", usage=Usage(), model=self.name)

    def body(self, request: ModelRequest) -> bytes:
        return json.dumps([tool.name for tool in request.tools]).encode()

    def close(self) -> None: ...


def submitting(request: ModelRequest, parameters: Mapping[str, object] | None = None) -> ModelRequest:
    tool = ToolSchema(name="submit_artifact", description="Hand in.", parameters=parameters or {"type": "object"})
    return replace(request, tools=(*request.tools, tool))


def test_calls_come_back_as_calls(request_for: Callable[..., ModelRequest]) -> None:
    said = {
        "calls": [{"name": "read_file", "arguments": {"path": "ä.py"}}, {"name": "submit_artifact", "arguments": {}}]
    }
    inner = Answering(json.dumps(said))
    model = ConstrainedModel(inner)  # type: ignore[arg-type]
    reply = model.complete(submitting(request_for()))
    assert [(call.name, json.loads(call.arguments)) for call in reply.tool_calls] == [
        ("read_file", {"path": "ä.py"}),
        ("submit_artifact", {}),
    ]
    assert (reply.text, reply.finish) == ("", "tool_calls")
    (sent,) = inner.asked
    assert sent.tools == ()
    assert sent.messages[0].text.startswith("You write code.")
    assert "- read_file: Read a file." in sent.messages[0].text
    assert sent.messages[0].parts[-1].stable
    assert model.body(submitting(request_for())) == b"[]"


def test_an_answer_that_was_cut_off_stays_text(request_for: Callable[..., ModelRequest]) -> None:
    model = ConstrainedModel(Answering('{"calls": [{"name": "read'))  # type: ignore[arg-type]
    reply = model.complete(submitting(request_for()))
    assert (reply.tool_calls, reply.text[:9]) == ((), '{"calls":')
    assert [calls_in(text) for text in ("[]", "{}", '{"calls": 3}', '{"calls": [1]}')] == [()] * 4


def test_conversations_and_servers_without_schemas_are_left_alone(request_for: Callable[..., ModelRequest]) -> None:
    for request, abilities in (
        (request_for(), frozenset({"json_schema"})),
        (submitting(request_for()), frozenset({"seed"})),
        (replace(submitting(request_for()), json_schema={"type": "object"}), frozenset({"json_schema"})),
    ):
        inner = Answering("x", abilities)
        ConstrainedModel(inner).complete(request)  # type: ignore[arg-type]
        assert inner.asked == [request]


def test_a_history_with_calls_is_told_in_plain_words(history: tuple[Message, ...]) -> None:
    sent = constrained(submitting(ModelRequest(messages=history)))
    assert [message.role for message in sent.messages] == ["system", "user", "assistant", "user", "user", "user"]
    assert sent.messages[3].text == "Result: one"
    assert '"name": "read_file"' in sent.messages[2].text
    bare = constrained(submitting(ModelRequest(messages=(Message(role="user", parts=(Text(text="U"),)),))))
    assert [message.role for message in bare.messages] == ["system", "user"]
    assert ToolCall(call_id="c1", name="read_file", arguments='{"path": "a.py"}') in history[2].tool_calls
