"""Proves that models/hosted.py reads a stream alike however its bytes are cut, and cheaply (the rest: test_wire.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from agentforge.errors import ModelReplyBroken, ModelRequestRejected
from agentforge.messages import ModelRequest
from agentforge.models.api.hosted import HostedModel
from agentforge.models.api.model import ModelSpec, thinking_heard
from agentforge.models.dialects.anthropic_messages import ANTHROPIC_MESSAGES
from agentforge.models.dialects.openai_chat import OPENAI_CHAT
from tests.support.loopback.provider import LoopbackProvider, Say, tape

DIALECTS = {"openai": OPENAI_CHAT, "anthropic": ANTHROPIC_MESSAGES}
REPLY = Say(
    text="Grüße 😀\n\ndata: x", thinking="hm…", calls=(("f", '{"ä": "\\n"}'), ("g", "{}")), usage=(9, 5, 2), pieces=3
)


class Chunked:
    """A connection whose response comes in given chunks."""

    def __init__(self, chunks: list[bytes]) -> None:
        self.status = 200
        self.headers = {"content-type": "text/event-stream; charset=utf-8"}
        self._chunks = chunks

    def post(self, url: str, **_: object) -> Chunked:
        """The response."""
        return self

    def chunks(self) -> Iterator[bytes]:
        """The body."""
        yield from self._chunks

    def close(self) -> None:
        """Nothing is open."""

    def __enter__(self) -> Chunked:
        return self

    def __exit__(self, *_: object) -> None:
        return None


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_cut_of_the_stream_gives_the_same_reply(
    dialect: str, request_for: Callable[..., ModelRequest], data: st.DataObject
) -> None:
    stream = b"".join(tape(dialect, REPLY))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    chunks = [stream[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    spec = ModelSpec(provider="custom", name="m", base_url="http://h")
    reply = HostedModel(spec, DIALECTS[dialect], connection=Chunked(chunks)).complete(request_for())  # type: ignore[arg-type]
    assert (reply.text, reply.thinking, reply.finish) == (REPLY.text, REPLY.thinking, "tool_calls")
    assert tuple((call.name, call.arguments) for call in reply.tool_calls) == REPLY.calls
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.cached_tokens) == (9, 5, 2)


def test_a_reply_of_two_thousand_chunks_arrives_whole(
    connect: Callable[..., HostedModel], loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    loopback.plan(Say(text="ab" * 1000, pieces=1))
    told: list[str] = []
    reply = connect().complete(request_for(), on_delta=told.append)
    assert reply.text == "".join(told) == "ab" * 1000
    assert len(told) == 2000


def test_what_comes_after_the_end_of_the_stream_is_not_read(request_for: Callable[..., ModelRequest]) -> None:
    stream = b"".join(tape("openai", REPLY)) + b'data: {"choices": [{"delta": {"content": "more"}}]}\n\n'
    spec = ModelSpec(provider="custom", name="m", base_url="http://h")
    model = HostedModel(spec, OPENAI_CHAT, connection=Chunked([stream]))  # type: ignore[arg-type]
    assert model.complete(request_for()).text == REPLY.text


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_an_emoji_that_comes_in_two_halves_is_one_character_again(
    dialect: str,
    connect: Callable[..., HostedModel],
    loopback: LoopbackProvider,
    request_for: Callable[..., ModelRequest],
) -> None:
    loopback.plan(
        Say(text="\ud83d\ude00 and \ud83d", thinking="\ud83d\ude00", calls=(("f", '"\ud83d\ude00"'),), pieces=1)
    )
    reply = connect(dialect).complete(request_for())
    assert (reply.text, reply.thinking) == ("😀 and \ufffd", "😀")
    assert reply.tool_calls[0].arguments == '"😀"'


def _asked(body: bytes, request: ModelRequest, **headers: str) -> object:
    connection = Chunked([body])
    connection.headers |= {name.replace("_", "-"): value for name, value in headers.items()}
    spec = ModelSpec(provider="custom", name="m", base_url="http://h")
    model = HostedModel(spec, OPENAI_CHAT, connection=connection, sleep=lambda _: None)  # type: ignore[arg-type]
    return model.complete(request)


def test_a_web_page_is_told_once_asking_again_did_not_help(request_for: Callable[..., ModelRequest]) -> None:
    with pytest.raises(ModelReplyBroken, match="web page") as caught:
        _asked(b"<html>Log in</html>", request_for(), content_type="text/html")
    assert "base URL" in str(caught.value.hint)


def test_an_encoding_that_nobody_asked_for_is_told(request_for: Callable[..., ModelRequest]) -> None:
    with pytest.raises(ModelRequestRejected, match="gzip"):
        _asked(b"\x1f\x8b", request_for(), content_encoding="gzip")


def test_json_that_is_nested_without_end_is_a_broken_reply(request_for: Callable[..., ModelRequest]) -> None:
    with pytest.raises(ModelReplyBroken, match="not JSON"):
        _asked(b"data: " + b"[" * 200_000 + b"\n\n", request_for())


@pytest.mark.parametrize("count", ["1e400", "-5", "1e300", "NaN", '"many"', "null"])
def test_a_count_of_tokens_that_cannot_be_is_none(count: str, request_for: Callable[..., ModelRequest]) -> None:
    usage = f'{{"choices": [], "usage": {{"prompt_tokens": {count}, "completion_tokens": {count}}}}}'
    stream = f'data: {{"choices": [{{"index": 0, "delta": {{"content": "hi"}}, "finish_reason": "stop"}}]}}\n\ndata: {usage}\n\n'
    reply = _asked(f"{stream}data: [DONE]\n\n".encode(), request_for())
    assert reply.usage.prompt_tokens in range(10_000)  # type: ignore[attr-defined]


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_whoever_listens_hears_the_thinking_while_it_comes(
    dialect: str, request_for: Callable[..., ModelRequest]
) -> None:
    heard: list[str] = []
    spec = ModelSpec(provider="custom", name="m", base_url="http://h")
    chunks = [*tape(dialect, Say(thinking="First this, then that.", text="Fine."))]
    model = HostedModel(spec, DIALECTS[dialect], connection=Chunked(chunks))  # type: ignore[arg-type]
    with thinking_heard(heard.append):
        model.complete(request_for(), on_delta=heard.append)
    assert len(heard) > 3, "in pieces"
    assert "".join(heard) == "First this, then that.Fine."
    model.complete(request_for(), on_delta=None)
    assert "".join(heard) == "First this, then that.Fine.", "nobody listens any more"
