"""Proves models/anthropic_messages.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agentforge.errors import ModelReplyBroken, ModelUnavailable
from agentforge.messages import Message, ModelRequest, Text, ToolCall, Usage
from agentforge.models.dialects.anthropic_messages import MessageReader, encode, endpoint, headers, read_body
from agentforge.models.dialects.dialect import Answer

MARK = {"cache_control": {"type": "ephemeral"}}


def read(*events: dict[str, Any]) -> Answer:
    """What the reader makes of these events."""
    reader = MessageReader()
    for event in events:
        reader.feed(json.dumps(event))
    return reader.answer()


def start(index: int, **block: Any) -> dict[str, Any]:
    """A content_block_start."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **fields: Any) -> dict[str, Any]:
    """A content_block_delta."""
    return {"type": "content_block_delta", "index": index, "delta": fields}


def stop(reason: str, **usage: int) -> dict[str, Any]:
    """A message_delta."""
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def test_a_request_carries_markers_on_the_last_tool_and_the_stable_pieces(
    request_for: Callable[..., ModelRequest],
) -> None:
    request = request_for()
    assert encode(request, "claude") == {
        "model": "claude",
        "max_tokens": 512,
        "stream": True,
        "system": [{"type": "text", "text": "You write code.", **MARK}],
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "The task. ", **MARK}, {"type": "text", "text": "Do it."}],
            }
        ],
        "tools": [
            {"name": "read_file", "description": "Read a file.", "input_schema": request.tools[0].parameters, **MARK}
        ],
    }


def test_at_most_four_markers_are_sent_and_the_last_ones_stay(request_for: Callable[..., ModelRequest]) -> None:
    parts = tuple(Text(text=f"p{number}", stable=True) for number in range(6))
    request = replace(request_for(), messages=(Message(role="user", parts=parts),))
    body = encode(request, "claude")
    marked = [block["text"] for block in body["messages"][0]["content"] if "cache_control" in block]
    assert marked == ["p3", "p4", "p5"]
    assert "cache_control" in body["tools"][-1]
    assert json.dumps(encode(replace(request, tools=()), "claude")).count("cache_control") == 4


def test_all_tool_results_after_one_reply_go_into_one_user_message(history: tuple[Message, ...]) -> None:
    body = encode(ModelRequest(messages=history), "claude")
    assert body["system"] == [{"type": "text", "text": "S"}]
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "U1"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a.py"}},
                {"type": "tool_use", "id": "c2", "name": "read_file", "input": {"raw": '{"path": '}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "one"}]},
                {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "two"}]},
                {"type": "text", "text": "U2"},
            ],
        },
    ]


def test_empty_pieces_are_left_out() -> None:
    messages = (
        Message(role="user", parts=(Text(text="a"), Text(text="", stable=True))),
        Message(role="assistant", parts=(Text(text=" "),)),
    )
    assert encode(ModelRequest(messages=messages), "c")["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "a"}]}
    ]


def test_a_temperature_is_sent_only_when_it_was_set(request_for: Callable[..., ModelRequest]) -> None:
    assert encode(replace(request_for(), temperature=0.5), "m")["temperature"] == 0.5
    assert "temperature" not in encode(request_for(), "m")


@pytest.mark.parametrize("base", ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/messages"])
def test_base_urls_may_end_in_a_version_or_not(base: str) -> None:
    assert endpoint(base) == "http://h:1/v1/messages"


def test_the_key_and_the_version_are_headers() -> None:
    assert headers("k") == {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    assert headers("") == {"anthropic-version": "2023-06-01"}


def test_a_stream_is_put_together_again() -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2, "output_tokens": 1}
    answer = read(
        {"type": "message_start", "message": {"usage": usage}},
        {"type": "ping"},
        start(0, type="thinking", thinking="", signature=""),
        delta(0, type="thinking_delta", thinking="hm"),
        delta(0, type="signature_delta", signature="xx"),
        start(1, type="redacted_thinking", data="xyz"),
        start(2, type="text", text=""),
        delta(2, type="text_delta", text="Hel"),
        delta(2, type="text_delta", text="lo"),
        start(3, type="tool_use", id="t1", name="f", input={}),
        delta(3, type="input_json_delta", partial_json=""),
        delta(3, type="input_json_delta", partial_json='{"x"'),
        delta(3, type="input_json_delta", partial_json=": 1}"),
        start(4, type="tool_use", id="t2", name="g", input={}),
        start(5, type="tool_use", id="t3", name="h", input={"y": 2}),
        {"type": "something_new"},
        stop("tool_use", output_tokens=33),
        {"type": "message_stop"},
    )
    assert answer == Answer(
        text="Hello",
        thinking="hm",
        tool_calls=(
            ToolCall(call_id="t1", name="f", arguments='{"x": 1}'),
            ToolCall(call_id="t2", name="g", arguments="{}"),
            ToolCall(call_id="t3", name="h", arguments='{"y": 2}'),
        ),
        finish="tool_calls",
        usage=Usage(prompt_tokens=17, completion_tokens=33, cached_tokens=5, cache_write_tokens=2),
        kept=({"type": "thinking", "thinking": "hm", "signature": "xx"}, {"type": "redacted_thinking", "data": "xyz"}),
    )


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("something_new", "stop"),
    ],
)
def test_stop_reasons_are_translated(reason: str, finish: str) -> None:
    assert read(stop(reason)).finish == finish


def test_a_stream_without_stop_reason_is_broken() -> None:
    with pytest.raises(ModelReplyBroken, match="without a stop reason"):
        read(start(0, type="text", text="Hel"), {"type": "message_stop"})


def test_an_overload_inside_the_stream_is_raised() -> None:
    with pytest.raises(ModelUnavailable, match="Overloaded"):
        read({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})


def test_a_piece_of_a_block_that_never_began_is_broken() -> None:
    with pytest.raises(ModelReplyBroken, match="block 4"):
        read(delta(4, type="text_delta", text="x"))


def test_a_whole_body_is_read_like_a_stream() -> None:
    content = [{"type": "text", "text": "Hi"}, {"type": "tool_use", "id": "t", "name": "f", "input": {"x": 1}}]
    usage = {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": None}
    answer = read_body({"type": "message", "content": content, "stop_reason": "tool_use", "usage": usage})
    assert answer.text == "Hi"
    assert answer.tool_calls == (ToolCall(call_id="t", name="f", arguments='{"x": 1}'),)
    assert answer.usage == Usage(prompt_tokens=1, completion_tokens=2)
