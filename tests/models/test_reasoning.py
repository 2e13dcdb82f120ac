"""What a reasoning model wants back with its calls comes back, word for word, to that model and to no other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import openai
import pytest

from agentforge.messages import Message, ModelReply, ModelRequest, Text, request_from, request_value
from agentforge.models.api.hosted import HostedModel
from agentforge.models.api.model import ModelSpec
from agentforge.models.dialects.anthropic_messages import encode as encode_anthropic
from agentforge.models.dialects.openai_chat import OPENAI_CHAT
from agentforge.models.dialects.openai_responses import OPENAI_RESPONSES, dialect_of, endpoint
from tests.support.loopback.provider import LoopbackProvider, Raw

_SEALED = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAA="}
_CALL = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "c1",
    "name": "read_file",
    "arguments": '{"path":"a.py"}',
    "status": "completed",
}
_USAGE = {
    "input_tokens": 90,
    "output_tokens": 12,
    "total_tokens": 102,
    "input_tokens_details": {"cached_tokens": 64},
    "output_tokens_details": {"reasoning_tokens": 5},
}


def _sse(*events: Mapping[str, Any], named: bool = False) -> Raw:
    lines = [(f"event: {one['type']}\n" if named else "") + f"data: {json.dumps(one)}\n\n" for one in events]
    return Raw(chunks=tuple(line.encode() for line in lines))


def _message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"id": "m1", "type": "message", "role": "assistant", "status": "completed", "content": content}


def _response(status: str, *output: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    fixed = {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    return {**fixed, "status": status, "output": list(output), "usage": _USAGE, **more}


def _streamed(text: str, *output: Mapping[str, Any], end: str = "completed", **more: Any) -> Raw:
    deltas = [
        {
            "type": "response.output_text.delta",
            "item_id": "m1",
            "output_index": 0,
            "content_index": 0,
            "delta": piece,
            "logprobs": [],
        }
        for piece in (text[:3], text[3:])
        if piece
    ]
    events = [*deltas, {"type": f"response.{end}", "response": _response(end, *output, **more)}]
    return _sse(*({**event, "sequence_number": number} for number, event in enumerate(events)), named=True)


@pytest.fixture
def responses(loopback: LoopbackProvider) -> Iterator[HostedModel]:
    spec = ModelSpec(provider="custom", name="m", base_url=loopback.url, api_key="k", api="responses", reasoning="low")
    model = HostedModel(spec, dialect_of(spec), sleep=lambda _: None)
    yield model
    model.close()


def test_the_api_is_chosen_by_the_setting() -> None:
    assert dialect_of(ModelSpec(provider="openai", name="m")) is OPENAI_CHAT
    assert dialect_of(ModelSpec(provider="openai", name="m", api="responses")) is OPENAI_RESPONSES
    assert (
        endpoint("http://h:1")
        == endpoint("http://h:1/v1/")
        == endpoint("http://h:1/v1/responses")
        == "http://h:1/v1/responses"
    )


def test_a_response_is_read_as_the_sdk_reads_it(
    responses: HostedModel, loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    loopback.default = _streamed("Seen. ", _SEALED, _message("Seen. "), _CALL)
    heard: list[str] = []
    ours = responses.complete(request_for(), on_delta=heard.append)
    with openai.OpenAI(base_url=f"{loopback.url}/v1", api_key="k", max_retries=0) as client:
        sent = {**loopback.asked[-1].body}
        with client.responses.create(**sent) as stream:
            events = list(stream)
    theirs = events[-1].response  # type: ignore[union-attr]
    assert (ours.text, "".join(heard)) == (theirs.output_text, "Seen. ")
    assert [(call.call_id, call.name, call.arguments) for call in ours.tool_calls] == [
        ("c1", "read_file", '{"path":"a.py"}')
    ]
    assert (ours.finish, ours.usage.prompt_tokens, ours.usage.cached_tokens) == ("tool_calls", 90, 64)
    assert loopback.asked[-1].body == loopback.asked[-2].body, "the SDK knows every key that we send"
    body = loopback.asked[-1].body
    assert (body["store"], body["include"], body["reasoning"]["effort"]) == (
        False,
        ["reasoning.encrypted_content"],
        "low",
    )
    assert loopback.asked[-1].path == "/v1/responses"


@pytest.mark.parametrize(
    ("plan", "finish"),
    [
        (_streamed("Hello.", _message("Hello.")), "stop"),
        (
            _streamed("Hel", _message("Hel"), end="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "length",
        ),
        (_streamed("", end="incomplete", incomplete_details={"reason": "content_filter"}), "content_filter"),
    ],
)
def test_ends_are_told_apart(
    responses: HostedModel, loopback: LoopbackProvider, request_for: Callable[..., ModelRequest], plan: Raw, finish: str
) -> None:
    loopback.default = plan
    assert responses.complete(request_for()).finish == finish


def test_a_failed_response_and_a_cut_one_are_asked_for_again(
    responses: HostedModel, loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    failed = {"code": "server_error", "message": "overloaded"}
    loopback.plan(
        _sse({"type": "response.failed", "response": _response("failed", error=failed)}),
        _sse({"type": "response.output_text.delta", "delta": "Hal"}),
        _streamed("Whole.", _message("Whole.")),
    )
    reply = responses.complete(request_for())
    assert (reply.text, reply.requests) == ("Whole.", 3)


def test_sealed_reasoning_comes_back_before_its_calls_and_to_nobody_else(
    responses: HostedModel, loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    loopback.default = _streamed("", _SEALED, _CALL)
    request = request_for()
    again = _next(request, responses.complete(request))
    responses.complete(again)
    kinds = [item.get("type", item.get("role")) for item in loopback.asked[-1].body["input"]]
    assert kinds == ["system", "user", "reasoning", "function_call", "function_call_output"]
    assert loopback.asked[-1].body["input"][2] == {"type": "reasoning", "summary": [], "encrypted_content": "gAAAA="}
    spec = ModelSpec(provider="custom", name="other", base_url=loopback.url, api_key="k", api="responses")
    other = HostedModel(spec, OPENAI_RESPONSES, sleep=lambda _: None)
    other.complete(again)
    other.close()
    assert "reasoning" not in [item.get("type") for item in loopback.asked[-1].body["input"]]
    assert request_from(request_value(again)).messages == again.messages, "a recording holds it, too"


def test_signed_thinking_of_anthropic_comes_back_and_thinking_is_off_where_it_was_lost(
    connect: Callable[..., HostedModel], loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    blocks = [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "", "signature": ""},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Let me see."}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "ZGF0YQ"}},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "tool_use", "id": "t1", "name": "read_file", "input": {}},
        },
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]
    loopback.default = _sse(*blocks)
    model, request = connect("anthropic", reasoning="high", temperature=0.5), request_for()
    reply = model.complete(request)
    assert reply.thinking == "Let me see."
    again = _next(request, reply)
    model.complete(again)
    sent = loopback.asked[-1].body
    assert sent["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZGF0YQ"},
        {"type": "tool_use", "id": "t1", "name": "read_file", "input": {}},
    ]
    assert sent["thinking"]["budget_tokens"] < sent["max_tokens"]
    assert "temperature" not in sent
    lost = replace(again, messages=tuple(replace(one, kept=()) for one in again.messages), reasoning="high")
    assert "thinking" not in encode_anthropic(lost, "m")


@pytest.mark.parametrize(
    ("delta", "back"),
    [
        ({"reasoning_content": "Hm."}, {"reasoning_content": "Hm."}),
        (
            {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
            {"reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
        ),
        ({"reasoning": "Hm."}, {}),
    ],
)
def test_compatible_servers_get_their_reasoning_back_with_calls_only(
    connect: Callable[..., HostedModel],
    loopback: LoopbackProvider,
    request_for: Callable[..., ModelRequest],
    delta: dict[str, Any],
    back: dict[str, Any],
) -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "read_file", "arguments": "{}"}}
    loopback.plan(
        _sse(
            {"choices": [{"index": 0, "delta": delta}]},
            {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]},
        ),
        _sse({"choices": [{"index": 0, "delta": {**delta, "content": "Done."}, "finish_reason": "stop"}]}),
    )
    model, request = connect(reasoning="medium"), request_for()
    again = _next(request, model.complete(request))
    final = model.complete(again)
    sent = loopback.asked[-1].body["messages"][2]
    assert {key: value for key, value in sent.items() if key.startswith("reasoning")} == back
    assert (final.kept, loopback.asked[-1].body["reasoning_effort"]) == ((), "medium")


def _next(request: ModelRequest, reply: ModelReply) -> ModelRequest:
    """The request after the calls of a reply were carried out."""
    said = Message(role="assistant", parts=(Text(text=reply.text),), tool_calls=reply.tool_calls, kept=reply.kept)
    results = [Message(role="tool", parts=(Text(text="x"),), tool_call_id=call.call_id) for call in reply.tool_calls]
    return replace(request, messages=(*request.messages, said, *results))
