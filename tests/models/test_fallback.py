"""Proves models/fallback.py."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentforge import errors
from agentforge.messages import ModelReply, ModelRequest, Usage
from agentforge.models.api.fallback import Breaker, FallbackModel
from agentforge.models.api.hosted import HostedModel
from tests.support.loopback.provider import LoopbackProvider, Refuse, Say


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Stub:
    """A model that does as it is told and counts."""

    def __init__(self, name: str, error: errors.ModelError | None = None) -> None:
        self.name, self.error, self.asked, self.closed = name, error, 0, False

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Answer or fail."""
        self.asked += 1
        if self.error is not None:
            raise self.error
        return ModelReply(text=self.name, tool_calls=(), finish="stop", usage=Usage(), model=self.name)

    def close(self) -> None:
        """Note it."""
        self.closed = True


def down(requests: int = 4) -> errors.ModelUnavailable:
    """A retryable failure."""
    return errors.ModelUnavailable("down", requests=requests)


def test_the_first_model_answers_where_it_can(request_for: Callable[..., ModelRequest]) -> None:
    first, second = Stub("a/1"), Stub("b/2")
    chain = FallbackModel([first, second], Breaker())
    assert chain.complete(request_for()).model == chain.name == "a/1"
    assert second.asked == 0


def test_the_next_model_answers_and_all_requests_count(request_for: Callable[..., ModelRequest]) -> None:
    chain = FallbackModel([Stub("a/1", down(4)), Stub("b/2", down(3)), Stub("c/3")], Breaker())
    reply = chain.complete(request_for())
    assert (reply.model, reply.requests) == ("c/3", 8)


@pytest.mark.parametrize("error", [errors.ContextTooLong("long"), errors.ModelRequestRejected("bad")])
def test_what_another_model_would_refuse_too_ends_the_chain(
    error: errors.ModelError, request_for: Callable[..., ModelRequest]
) -> None:
    second = Stub("b/2")
    with pytest.raises(type(error)):
        FallbackModel([Stub("a/1", error), second], Breaker()).complete(request_for())
    assert second.asked == 0


def test_where_all_fail_the_last_error_is_raised(request_for: Callable[..., ModelRequest]) -> None:
    chain = FallbackModel([Stub("a/1", errors.ModelAuthError("key")), Stub("b/2", down())], Breaker())
    with pytest.raises(errors.ModelUnavailable, match="down") as caught:
        chain.complete(request_for())
    assert caught.value.requests == 5


def test_three_failures_open_the_circuit_for_a_minute_then_one_try_decides(
    request_for: Callable[..., ModelRequest],
) -> None:
    clock, first, second = Clock(), Stub("a/1", down()), Stub("b/2")
    chain = FallbackModel([first, second], Breaker(clock=clock))
    for _ in range(5):
        chain.complete(request_for())
    assert first.asked == 3
    clock.now += 59.9
    chain.complete(request_for())
    assert first.asked == 3
    clock.now += 0.1
    chain.complete(request_for())  # half-open: one try, which fails
    chain.complete(request_for())
    assert first.asked == 4
    clock.now += 60
    first.error = None
    assert chain.complete(request_for()).model == "a/1"
    first.error = down()
    for _ in range(3):  # closed again: three more failures are needed
        chain.complete(request_for())
    assert first.asked == 8


def test_a_success_forgets_the_failures_before_it(request_for: Callable[..., ModelRequest]) -> None:
    first = Stub("a/1")
    chain = FallbackModel([first, Stub("b/2")], Breaker(clock=Clock()))
    for error in (down(), down(), None, down(), down(), None):
        first.error = error
        chain.complete(request_for())
    assert first.asked == 6


def test_where_every_circuit_is_open_the_last_error_is_raised_without_a_request(
    request_for: Callable[..., ModelRequest],
) -> None:
    models = [Stub("a/1", down()), Stub("b/2", errors.ModelRateLimited("slow"))]
    chain = FallbackModel(models, Breaker(clock=Clock()))
    for _ in range(3):
        with pytest.raises(errors.ModelRateLimited):
            chain.complete(request_for())
    with pytest.raises(errors.ModelRateLimited, match="slow") as caught:
        chain.complete(request_for())
    assert caught.value.requests == 0
    assert [model.asked for model in models] == [3, 3]


def test_a_stream_that_breaks_after_its_first_piece_falls_back(
    connect: Callable[..., HostedModel], loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    loopback.plan(*[Say(text="broken in the middle", cut_after=3)] * 4, Say(text="whole"))
    chain = FallbackModel([connect(), connect("anthropic")], Breaker())
    told: list[str] = []
    reply = chain.complete(request_for(), on_delta=told.append)
    assert (reply.text, reply.model, reply.requests) == ("whole", "anthropic/m", 5)
    assert told[0] == "broken "


def test_a_wrong_key_falls_back(
    connect: Callable[..., HostedModel], loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    loopback.plan(Refuse(status=401), Say(text="whole"))
    assert FallbackModel([connect(), connect("anthropic")], Breaker()).complete(request_for()).requests == 2


def test_closing_the_chain_closes_its_models() -> None:
    models = [Stub("a/1"), Stub("b/2")]
    FallbackModel(models, Breaker()).close()
    assert [model.closed for model in models] == [True, True]


def test_an_empty_chain_is_refused() -> None:
    with pytest.raises(errors.ModelNotConfigured):
        FallbackModel([], Breaker())
