"""Proves models/wire.py, and models/hosted.py above it, against a real server on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from agentforge import errors
from agentforge.messages import ModelRequest, Usage
from agentforge.models.api.hosted import HostedModel
from agentforge.models.transport.wire import MAX_REQUESTS, Wire
from tests.support.loopback.provider import HangUp, LoopbackProvider, Raw, Refuse, Say

Connect = Callable[..., HostedModel]
RequestFor = Callable[..., ModelRequest]
BOTH = pytest.mark.parametrize("dialect", ["openai", "anthropic"])


@BOTH
def test_a_good_reply_takes_one_request(
    dialect: str, connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    loopback.plan(Say(text="Hello wörld", thinking="hm", calls=(("f", '{"a": 1}'),), usage=(50, 9, 30)))
    told: list[str] = []
    reply = connect(dialect).complete(request_for(), on_delta=told.append)
    assert (reply.text, reply.thinking, reply.finish, reply.requests) == ("Hello wörld", "hm", "tool_calls", 1)
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("f", '{"a": 1}')]
    written = 3 if dialect == "anthropic" else 0
    assert reply.usage == Usage(prompt_tokens=50, completion_tokens=9, cached_tokens=30, cache_write_tokens=written)
    assert reply.usage_reported
    assert "".join(told) == "Hello wörld"
    assert len(told) > 1


@pytest.mark.parametrize(
    ("status", "kind", "requests"),
    [
        (401, errors.ModelAuthError, 1),
        (404, errors.ModelNotFound, 1),
        (400, errors.ModelRequestRejected, 1),
        (413, errors.ContextTooLong, 1),
        (429, errors.ModelRateLimited, 4),
        (500, errors.ModelUnavailable, 4),
        (529, errors.ModelUnavailable, 4),
    ],
)
@BOTH
def test_refusals_are_asked_again_only_where_that_can_help(
    dialect: str,
    status: int,
    kind: type[errors.ModelError],
    requests: int,
    connect: Connect,
    loopback: LoopbackProvider,
    request_for: RequestFor,
) -> None:
    loopback.default = Refuse(status=status, message="because of sk-secret")
    with pytest.raises(kind) as caught:
        connect(dialect).complete(request_for())
    assert type(caught.value) is kind
    assert caught.value.requests == requests == len(loopback.asked)
    assert "because of ***" in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_a_web_page_in_the_place_of_a_reply_is_named(
    connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    loopback.default = Raw(chunks=(b"<html>Sign in</html>",), content_type="text/html; charset=utf-8")
    with pytest.raises(errors.ModelReplyBroken, match="a web page came back") as caught:
        connect().complete(request_for())
    assert "base URL" in caught.value.hint


def test_retry_after_is_obeyed(
    connect: Connect, loopback: LoopbackProvider, request_for: RequestFor, slept: list[float]
) -> None:
    loopback.plan(Refuse(status=429, headers={"Retry-After": "7"}), Say(text="now"))
    reply = connect().complete(request_for())
    assert (reply.text, reply.requests, slept) == ("now", 2, [7.0])


def test_without_retry_after_the_waits_grow(
    connect: Connect, loopback: LoopbackProvider, request_for: RequestFor, slept: list[float]
) -> None:
    loopback.plan(Refuse(status=503), Refuse(status=503), Refuse(status=503), Say(text="now"))
    assert connect().complete(request_for()).requests == MAX_REQUESTS
    assert [low <= wait <= 2 * low for wait, low in zip(slept, (0.5, 1.0, 2.0), strict=True)] == [True] * 3


@BOTH
@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_stream_that_is_cut_is_asked_for_again(
    dialect: str, after: int, connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    loopback.plan(Say(text="lost in the middle", cut_after=after), Say(text="whole"))
    reply = connect(dialect).complete(request_for())
    assert (reply.text, reply.requests) == ("whole", 2)


@BOTH
def test_a_stream_that_ends_politely_without_finish_reason_is_asked_for_again(
    dialect: str, connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    loopback.default = Raw(chunks=(b": nothing\n\n",))
    with pytest.raises(errors.ModelReplyBroken) as caught:
        connect(dialect).complete(request_for())
    assert caught.value.requests == len(loopback.asked) == 4


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(Raw(chunks=(b"data: {garbage\n\n",)), id="garbage"),
        pytest.param(Raw(chunks=(b"<html>hello</html>",), content_type="text/html"), id="html"),
        pytest.param(Raw(chunks=(b"{",), content_type="application/json"), id="cut JSON"),
        pytest.param(Raw(chunks=(b"\xff",), content_type="application/json"), id="not UTF-8"),
        pytest.param(Raw(chunks=(b'data: {"error": {"message": "x", "code": 503}}\n\n',)), id="error event"),
        pytest.param(HangUp(), id="hang up"),
    ],
)
def test_nonsense_is_asked_for_again(
    bad: Raw | HangUp, connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    loopback.plan(bad, Say(text="fine"))
    reply = connect().complete(request_for())
    assert (reply.text, reply.requests) == ("fine", 2)


@BOTH
def test_a_server_that_does_not_stream_is_understood(
    dialect: str, connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    loopback.plan(Say(text="whole", calls=(("f", '{"a": 1}'),), streamed=False))
    told: list[str] = []
    reply = connect(dialect).complete(request_for(), on_delta=told.append)
    assert (reply.text, reply.finish, told) == ("whole", "tool_calls", ["whole"])


@BOTH
def test_a_server_that_refuses_to_stream_is_asked_for_the_whole_now_and_from_then_on(
    dialect: str, connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    refusal = Refuse(status=400, message="streaming is not supported for this model")
    whole = Say(text="whole", streamed=False)
    loopback.plan(refusal, whole, whole, refusal)
    model = connect(dialect)
    first, second = model.complete(request_for()), model.complete(request_for())
    assert (first.text, first.requests, second.text, second.requests) == ("whole", 2, "whole", 1)
    assert [asked.body["stream"] for asked in loopback.asked] == [True, False, False]
    assert "stream_options" not in loopback.asked[1].body
    with pytest.raises(errors.ModelRequestRejected, match="streaming is not supported"):
        model.complete(request_for())


def test_usage_that_is_not_reported_is_estimated(
    connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    loopback.plan(Say(text="one two three", usage=None))
    reply = connect().complete(request_for())
    assert not reply.usage_reported
    assert reply.usage.completion_tokens == 3
    assert reply.usage.prompt_tokens > 20


def test_malformed_arguments_arrive_word_for_word(
    connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    loopback.plan(Say(calls=(("shell", '{"command": "ls'),)))
    assert connect().complete(request_for()).tool_calls[0].arguments == '{"command": "ls'


def test_a_silent_server_is_given_up(connect: Connect, loopback: LoopbackProvider, request_for: RequestFor) -> None:
    loopback.default = Say(text="slow", pause_s=0.4)
    with pytest.raises(errors.ModelUnavailable, match=r"stopped sending|in time") as caught:
        connect(read_timeout_s=0.01).complete(request_for())
    assert caught.value.requests == 4


def test_the_connection_is_kept_between_replies_and_after_refusals(
    connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    model = connect()
    loopback.plan(Say(text="a"), Refuse(status=503), Say(text="b", streamed=False), Say(text="c"))
    assert [model.complete(request_for()).text for _ in range(3)] == ["a", "b", "c"]
    assert loopback.connections == 1


def test_settings_of_the_model_bound_the_request(
    connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    loopback.default = Say(text="x")
    connect(max_output_tokens=100, temperature=0.3).complete(request_for())
    connect(max_output_tokens=1000).complete(request_for())
    assert [asked.body["max_tokens"] for asked in loopback.asked] == [100, 512]
    assert [asked.body.get("temperature") for asked in loopback.asked] == [0.3, None]
    assert loopback.asked[0].headers["authorization"] == "Bearer sk-secret"
    assert loopback.asked[0].path == "/v1/chat/completions"


def test_lone_surrogates_can_be_sent(connect: Connect, loopback: LoopbackProvider, request_for: RequestFor) -> None:
    loopback.default = Say(text="x")
    connect().complete(request_for(user="\udc80 \u2028 é"))
    assert loopback.asked[0].body["messages"][1]["content"].endswith("\udc80 \u2028 é")


def test_nobody_at_the_address_is_unavailable_after_four_tries(
    connect: Connect, request_for: RequestFor, slept: list[float]
) -> None:
    with pytest.raises(errors.ModelUnavailable, match="cannot be reached") as caught:
        connect(base_url="http://127.0.0.1:9").complete(request_for())
    assert caught.value.requests == 4
    assert len(slept) == 3


def test_the_wire_sleeps_by_the_clock_it_was_given() -> None:
    slept: list[float] = []

    class Dead:
        def post(self, url: str, **_: object) -> object:
            raise errors.ModelUnavailable("down")

        def close(self) -> None:
            slept.append(-1.0)

    wire = Wire(Dead(), model="p/m", sleep=slept.append, jitter=lambda: 0.0)  # type: ignore[arg-type]
    with pytest.raises(errors.ModelUnavailable):
        wire.exchange("http://h", b"", headers={}, read=lambda response: None)
    wire.close()
    assert slept == [1.0, 2.0, 4.0, -1.0]


def test_a_key_with_a_line_end_is_sent_without_it_and_one_that_is_none_is_not_shown(
    connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    loopback.default = Say(text="x")
    connect(api_key=" sk-1\n").complete(request_for())
    assert loopback.asked[0].headers["authorization"] == "Bearer sk-1"
    with pytest.raises(errors.ModelNotConfigured) as caught:
        connect(api_key="sk-1\nsk-2")
    assert "sk-" not in str(caught.value)


def test_an_endless_error_page_is_cut(connect: Connect, loopback: LoopbackProvider, request_for: RequestFor) -> None:
    loopback.plan(Raw(chunks=(b"x" * 50_000,) * 20, status=400, content_type="text/html"))
    with pytest.raises(errors.ModelRequestRejected) as caught:
        connect().complete(request_for())
    assert len(str(caught.value)) < 400


def test_an_interrupt_in_the_middle_of_a_reply_does_not_spoil_the_next(
    connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    def interrupt(text: str) -> None:
        raise KeyboardInterrupt

    model = connect()
    loopback.plan(Say(text="first", pieces=1, pause_s=0.01), Say(text="second"))
    with pytest.raises(KeyboardInterrupt):
        model.complete(request_for(), on_delta=interrupt)
    assert model.complete(request_for()).text == "second"
    assert len(loopback.asked) == 2


def test_signs_of_life_alone_are_no_reply(
    connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    loopback.plan(Raw(chunks=(b": working\n\n",) * 600, pause_s=0.02))
    with pytest.raises(errors.ModelReplyEndless, match="keep-alive"):
        connect(read_timeout_s=0.2).complete(request_for())
    assert len(loopback.asked) == 1


_TRICKLES = {
    "a stream": (200, "text/event-stream", b'data: {"choices": [{"delta": {"content": "x"}}]}\n\n'),
    "half a line": (200, "text/event-stream", b"d"),
    "one body": (200, "application/json", b" "),
    "a refusal": (500, "application/json", b" "),
}


@pytest.mark.parametrize("kind", sorted(_TRICKLES))
def test_a_reply_that_trickles_without_end_is_given_up(
    connect: Connect, loopback: LoopbackProvider, request_for: RequestFor, kind: str
) -> None:
    status, content_type, piece = _TRICKLES[kind]
    loopback.plan(Raw(chunks=(piece,) * 400, pause_s=0.02, status=status, content_type=content_type))
    with pytest.raises(errors.ModelReplyEndless, match=r"model\.reply_timeout_s") as caught:
        connect(reply_timeout_s=0.3).complete(request_for())
    assert (caught.value.retryable, len(loopback.asked)) == (True, 1)


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"prompt_tokens": -5, "completion_tokens": -7},
        {"prompt_tokens": 10**18, "completion_tokens": 1},
        {"prompt_tokens": 9, "completion_tokens": 900_000_000},
        {"prompt_tokens": "12", "completion_tokens": "many"},
        {"prompt_tokens": 1e300, "completion_tokens": 1},
        {"prompt_tokens": True, "completion_tokens": True},
        {"prompt_tokens": 0, "completion_tokens": 0},
    ],
)
def test_figures_that_no_reply_can_have_cost_are_counted_anew(
    connect: Connect, loopback: LoopbackProvider, request_for: RequestFor, usage: dict[str, object]
) -> None:
    said = {"choices": [{"message": {"content": "some words"}, "finish_reason": "stop"}], "usage": usage}
    loopback.plan(Raw(chunks=(json.dumps(said).encode(),), content_type="application/json"))
    reply = connect().complete(request_for())
    assert (reply.usage_reported, reply.usage.completion_tokens) == (False, 2)
    assert 20 < reply.usage.prompt_tokens < 200


def test_a_cache_gives_no_more_than_was_sent(
    connect: Connect, loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 500}}
    said = {"choices": [{"message": {"content": "some words"}, "finish_reason": "stop"}], "usage": usage}
    loopback.plan(Raw(chunks=(json.dumps(said).encode(),), content_type="application/json"))
    reply = connect().complete(request_for())
    assert (reply.usage.prompt_tokens, reply.usage.cached_tokens, reply.usage_reported) == (10, 10, True)
