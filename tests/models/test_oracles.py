"""The official SDKs as oracles: the same streams through theirs and through ours must give the same reply.

Each test imports what it needs: every worker collects this file, and these packages take it seconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from agentforge.messages import Message, ModelReply, ModelRequest
from agentforge.models.api.hosted import HostedModel
from agentforge.models.dialects.anthropic_messages import encode as encode_anthropic
from agentforge.models.dialects.openai_chat import encode as encode_openai
from tests.support.loopback.provider import LoopbackProvider, Say

REPLIES = [
    Say(text="Hello."),
    Say(text="Grüße 😀 \n\n data: [DONE] ", pieces=1, usage=(400, 7, 350)),
    Say(calls=(("read_file", '{"path": "a.py"}'),), usage=(10, 2, 0)),
    Say(text="I do two.", calls=(("f", '{"x": [1, {"y": null}]}'), ("g", "{}")), pieces=3),
    Say(text="cut off", finish="length"),
    Say(text="", finish="content_filter"),
    Say(thinking="Let me see.", text="Seen."),
]


@pytest.mark.parametrize("plan", REPLIES)
def test_openai_reads_the_same(
    plan: Say, connect: Callable[..., HostedModel], loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    import openai

    loopback.default = plan
    ours = connect().complete(request_for())
    with (
        openai.OpenAI(base_url=f"{loopback.url}/v1", api_key="k", max_retries=0) as client,
        client.chat.completions.stream(
            model="m", messages=[{"role": "user", "content": "x"}], stream_options={"include_usage": True}
        ) as stream,
    ):
        try:
            theirs = stream.get_final_completion()
        except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError):
            theirs = stream.current_completion_snapshot  # their way to say it; the snapshot is whole
    choice = theirs.choices[0]
    calls = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or []]
    assert _told(ours) == ((choice.message.content or ""), calls, choice.finish_reason)
    usage = theirs.usage
    assert usage is not None and usage.prompt_tokens_details is not None
    assert (ours.usage.prompt_tokens, ours.usage.completion_tokens) == (usage.prompt_tokens, usage.completion_tokens)
    assert ours.usage.cached_tokens == usage.prompt_tokens_details.cached_tokens


@pytest.mark.parametrize("plan", REPLIES)
def test_anthropic_reads_the_same(
    plan: Say, connect: Callable[..., HostedModel], loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    import anthropic

    loopback.default = plan
    ours = connect("anthropic").complete(request_for())
    with (
        anthropic.Anthropic(base_url=loopback.url, api_key="k", max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]) as stream,
    ):
        theirs = stream.get_final_message()
    text = "".join(block.text for block in theirs.content if block.type == "text")
    calls = [(block.id, block.name, block.input) for block in theirs.content if block.type == "tool_use"]
    finish = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}
    assert (ours.text, ours.finish) == (text, finish[theirs.stop_reason or ""])
    assert [(call.call_id, call.name, json.loads(call.arguments)) for call in ours.tool_calls] == calls
    assert ours.thinking == "".join(block.thinking for block in theirs.content if block.type == "thinking")
    read, written = theirs.usage.cache_read_input_tokens or 0, theirs.usage.cache_creation_input_tokens or 0
    assert (ours.usage.cached_tokens, ours.usage.cache_write_tokens) == (read, written)
    assert ours.usage.prompt_tokens == theirs.usage.input_tokens + read + written
    assert ours.usage.completion_tokens == theirs.usage.output_tokens


def test_the_sdks_send_what_we_send(loopback: LoopbackProvider, history: tuple[Message, ...]) -> None:
    """Our bodies go through the SDKs as arguments and arrive unchanged: no key of ours is unknown to them."""
    import anthropic
    import openai

    loopback.default = Say(text="x")
    request = ModelRequest(messages=history)
    chat, messages = encode_openai(request, "m"), encode_anthropic(request, "m")
    with openai.OpenAI(base_url=f"{loopback.url}/v1", api_key="k", max_retries=0) as client:
        client.chat.completions.create(**chat).close()
    with anthropic.Anthropic(base_url=loopback.url, api_key="k", max_retries=0) as other:
        other.messages.create(**messages).close()
    assert [asked.body for asked in loopback.asked] == [chat, messages]
    assert [asked.path for asked in loopback.asked] == ["/v1/chat/completions", "/v1/messages"]


def test_a_cut_stream_is_an_error_with_us_whatever_the_sdk_makes_of_it(
    connect: Callable[..., HostedModel], loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    loopback.plan(Say(text="lost", cut_after=2), Say(text="found"))
    assert connect().complete(request_for()).text == "found"
    assert len(loopback.asked) == 2


def _told(reply: ModelReply) -> tuple[str, list[tuple[str, str, str]], str]:
    return reply.text, [(call.call_id, call.name, call.arguments) for call in reply.tool_calls], reply.finish
