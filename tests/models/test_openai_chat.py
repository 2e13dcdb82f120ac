"""Proves models/openai_chat.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agentforge.errors import ModelRateLimited, ModelReplyBroken, ModelUnavailable
from agentforge.messages import Message, ModelRequest, ToolCall, Usage
from agentforge.models.dialects.dialect import Answer
from agentforge.models.dialects.openai_chat import ChatReader, encode, endpoint, headers, limit_key, read_body


def read(*chunks: dict[str, Any]) -> Answer:
    """What the reader makes of these chunks."""
    reader = ChatReader()
    for chunk in chunks:
        reader.feed(json.dumps(chunk))
    return reader.answer()


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk with one choice."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def piece(
    index: int | None, call_id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    """A chunk with a piece of one tool call."""
    call: dict[str, Any] = {"function": {"name": name, "arguments": arguments}}
    return delta(tool_calls=[call | ({} if index is None else {"index": index}) | ({"id": call_id} if call_id else {})])


def test_a_request_becomes_a_streaming_body_with_plain_texts(request_for: Callable[..., ModelRequest]) -> None:
    request = request_for()
    assert encode(request, "gpt-4o") == {
        "model": "gpt-4o",
        "messages": [{"role": "system", "content": "You write code."}, {"role": "user", "content": "The task. Do it."}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 512,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read_file",
                    "description": "Read a file.",
                    "parameters": request.tools[0].parameters,
                },
            }
        ],
    }


def test_a_temperature_is_sent_only_when_it_was_set(request_for: Callable[..., ModelRequest]) -> None:
    assert encode(replace(request_for(), temperature=0.0), "m")["temperature"] == 0.0
    assert "temperature" not in encode(request_for(), "m")


def test_a_history_keeps_its_calls_and_mends_malformed_arguments(history: tuple[Message, ...]) -> None:
    messages = encode(ModelRequest(messages=history), "m")["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "tool", "user"]
    sent = [call["function"]["arguments"] for call in messages[2]["tool_calls"]]
    assert sent == ['{"path": "a.py"}', json.dumps({"raw": '{"path": '})]
    assert messages[3] == {"role": "tool", "tool_call_id": "c1", "content": "one"}


def test_calls_without_text_are_sent_without_content() -> None:
    call = ToolCall(call_id="c", name="f", arguments="")
    message = Message(role="assistant", parts=(), tool_calls=(call,))
    sent = encode(ModelRequest(messages=(message,)), "m")["messages"][0]
    assert sent["content"] is None
    assert sent["tool_calls"][0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("gpt-4o", "max_tokens"),
        ("o1", "max_completion_tokens"),
        ("o3-mini", "max_completion_tokens"),
        ("gpt-5-nano", "max_completion_tokens"),
        ("openai/gpt-5.2", "max_completion_tokens"),
        ("gpt-oss-20b", "max_tokens"),
        ("qwen3", "max_tokens"),
        ("openai/gpt-4.1", "max_tokens"),
    ],
)
def test_reasoning_models_get_the_other_name_of_the_limit(name: str, key: str) -> None:
    assert limit_key(name) == key


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://h:1", "http://h:1/v1/chat/completions"),
        ("http://h:1/", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/", "http://h:1/v1/chat/completions"),
        ("http://h:1/run/NAME/v1", "http://h:1/run/NAME/v1/chat/completions"),
        ("http://h:1/run/NAME", "http://h:1/run/NAME/v1/chat/completions"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://g/v1beta/openai", "https://g/v1beta/openai/chat/completions"),
        ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
    ],
)
def test_base_urls_may_end_in_a_version_or_not(base: str, url: str) -> None:
    assert endpoint(base) == url


def test_the_key_goes_into_the_authorization_header() -> None:
    assert headers("k") == {"Authorization": "Bearer k"}
    assert headers("") == {}


def test_a_stream_is_put_together_again() -> None:
    answer = read(
        delta(role="assistant", content=""),
        delta(reasoning_content="hm "),
        delta(reasoning="well"),
        delta(content="Hel"),
        delta(content="lo"),
        piece(0, "a", "f", ""),
        piece(1, "b", "g", '{"x"'),
        piece(0, None, None, "{}"),
        piece(1, None, None, ": 1}"),
        delta("tool_calls"),
        {
            "choices": [],
            "usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 5}},
        },
    )
    assert answer == Answer(
        text="Hello",
        thinking="hm well",
        tool_calls=(
            ToolCall(call_id="a", name="f", arguments="{}"),
            ToolCall(call_id="b", name="g", arguments='{"x": 1}'),
        ),
        finish="tool_calls",
        usage=Usage(prompt_tokens=9, completion_tokens=4, cached_tokens=5),
        kept=({"reasoning_content": "hm well"},),
    )


@pytest.mark.parametrize(
    "pieces",
    [
        [piece(0, "a", "f", "{}"), piece(0, "b", "g", "{}")],  # one index for all, told by id
        [piece(None, "a", "f", "{}"), piece(None, "b", "g", "{}")],  # no index at all
        [piece(None, "a", "f", "{"), piece(None, None, None, "}"), piece(None, "b", "g", {})],  # arguments as an object
    ],
)
def test_servers_that_number_their_calls_badly_are_understood(pieces: list[dict[str, Any]]) -> None:
    calls = read(*pieces, delta("stop")).tool_calls
    assert [(call.call_id, call.name, call.arguments) for call in calls] == [("a", "f", "{}"), ("b", "g", "{}")]


def test_calls_without_ids_get_ids_and_stop_with_calls_means_tool_calls() -> None:
    answer = read(piece(0, None, "f", "{}"), piece(1, None, "g", "{}"), delta("stop"))
    assert [call.call_id for call in answer.tool_calls] == ["call_0", "call_1"]
    assert answer.finish == "tool_calls"


def test_a_cut_off_call_keeps_the_finish_length() -> None:
    answer = read(piece(0, "a", "f", '{"x": "'), delta("length"))
    assert answer.finish == "length"
    assert answer.tool_calls[0].arguments == '{"x": "'


def test_a_refusal_is_text() -> None:
    assert read(delta(refusal="I will not."), delta("stop")).text == "I will not."


def test_a_stream_without_finish_reason_is_broken() -> None:
    with pytest.raises(ModelReplyBroken, match="without a finish reason"):
        read(delta(content="Hel"))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "x", "code": 429}, ModelRateLimited),
        ({"message": "x", "code": 502}, ModelUnavailable),
        ({"message": "x", "type": "server_error"}, ModelUnavailable),
        ({"message": "x"}, ModelReplyBroken),
        ("x", ModelReplyBroken),
    ],
)
def test_an_error_inside_the_stream_is_raised(error: object, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="x"):
        read(delta(content="Hel"), {"error": error})


@pytest.mark.parametrize("data", ["{", "[]", "null", "<html>"])
def test_data_that_is_no_json_object_is_broken(data: str) -> None:
    with pytest.raises(ModelReplyBroken):
        ChatReader().feed(data)


def test_done_ends_the_stream() -> None:
    reader = ChatReader()
    reader.feed("[DONE]")
    assert reader.ended


def test_a_whole_body_is_read_like_a_stream() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    other = {**call, "id": "b"}
    message = {"role": "assistant", "content": [{"type": "text", "text": "Hi"}], "tool_calls": [call, other]}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "prompt_cache_hit_tokens": 1}
    answer = read_body({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage})
    assert answer.text == "Hi"
    assert [call.call_id for call in answer.tool_calls] == ["a", "b"]
    assert answer.usage == Usage(prompt_tokens=1, completion_tokens=2, cached_tokens=1)


def test_a_whole_body_without_choice_is_broken() -> None:
    with pytest.raises(ModelReplyBroken):
        read_body({"choices": []})
