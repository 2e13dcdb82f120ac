"""Providers with wire formats of their own give the same replies and the same errors as the others."""

from __future__ import annotations

import gc
import json
import struct
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from agentforge.errors import ModelAuthError, ModelNotConfigured, ModelRateLimited
from agentforge.messages import Message, ModelReply, ModelRequest, Text
from agentforge.models.api.adapted import AdaptedModel
from agentforge.models.api.catalogue import open_model
from agentforge.models.api.model import ModelSpec
from tests.support.loopback.provider import LoopbackProvider, Raw, Refuse

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.usefixtures("adapters"),
]


@pytest.fixture
def adapters() -> None:
    """What these tests need; every worker collects this file, and the package takes it a second."""
    pytest.importorskip("pydantic_ai")


Tape = Callable[..., Raw]


def _sse(*events: dict[str, Any]) -> Raw:
    return Raw(chunks=tuple(f"data: {json.dumps(event)}\n\n".encode() for event in events))


def _groq(text: str, *, call: bool = False) -> Raw:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    made = {
        "index": 0,
        "id": "c1",
        "type": "function",
        "function": {"name": "read_file", "arguments": '{"path":"a.py"}'},
    }
    usage = {"prompt_tokens": 90, "completion_tokens": 12, "total_tokens": 102}
    delta = {"role": "assistant", "content": text, **({"tool_calls": [made]} if call else {})}
    return _sse(
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {
            **head,
            "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}],
            "x_groq": {"id": "r", "usage": usage},
        },
    )


def _google(text: str, *, call: bool = False) -> Raw:
    made = (
        [{"functionCall": {"name": "read_file", "args": {"path": "a.py"}}, "thoughtSignature": "c2ln"}] if call else []
    )
    parts = [*([{"text": text}] if text else []), *made]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 90, "candidatesTokenCount": 12, "totalTokenCount": 102, "cachedContentTokenCount": 64}
    return _sse({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"})


def _bedrock(text: str, *, call: bool = False) -> Raw:
    deltas: list[tuple[str, dict[str, Any]]] = [("messageStart", {"role": "assistant"})]
    if text:
        deltas += [
            ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}}),
            ("contentBlockStop", {"contentBlockIndex": 0}),
        ]
    if call:
        start = {"toolUse": {"toolUseId": "c1", "name": "read_file"}}
        deltas += [
            ("contentBlockStart", {"contentBlockIndex": 1, "start": start}),
            ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"path":"a.py"}'}}}),
            ("contentBlockStop", {"contentBlockIndex": 1}),
        ]
    usage = {"inputTokens": 90, "outputTokens": 12, "totalTokens": 102}
    deltas += [
        ("messageStop", {"stopReason": "tool_use" if call else "end_turn"}),
        ("metadata", {"usage": usage, "metrics": {"latencyMs": 1}}),
    ]
    return Raw(
        chunks=tuple(_frame(kind, value) for kind, value in deltas), content_type="application/vnd.amazon.eventstream"
    )


def _frame(kind: str, value: dict[str, Any]) -> bytes:
    """One message of AWS's event stream: prelude, headers, payload, checksums."""
    names = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack("!H", len(text)) + text.encode()
        for name, text in names.items()
    )
    payload = json.dumps(value).encode()
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    body = prelude + struct.pack("!I", zlib.crc32(prelude)) + headers + payload
    return body + struct.pack("!I", zlib.crc32(body))


TAPES: dict[str, Tape] = {"groq": _groq, "google": _google, "bedrock": _bedrock}


@pytest.fixture(params=TAPES)
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")  # a bearer token would need TLS
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    return str(request.param)


@pytest.fixture
def model(provider: str, loopback: LoopbackProvider) -> Iterator[AdaptedModel]:
    gc.freeze()  # the modules of the vendors are no garbage of this test, and take a second to be looked through
    opened = open_model(
        ModelSpec(
            provider=provider,
            name="m",
            base_url=loopback.url,
            api_key="" if provider == "bedrock" else "sk-secret",
            read_timeout_s=20,
        )
    )
    assert isinstance(opened, AdaptedModel)
    opened._sleep = lambda _: None
    yield opened
    opened.close()
    with warnings.catch_warnings():  # the vendors' clients leave their sockets to the collector
        warnings.simplefilter("ignore")
        gc.collect()


def test_text_and_usage_arrive(
    model: AdaptedModel, provider: str, loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    loopback.default = TAPES[provider]("Hello.")
    heard: list[str] = []
    reply = model.complete(request_for(), on_delta=heard.append)
    assert (reply.text, "".join(heard), reply.finish, reply.requests) == ("Hello.", "Hello.", "stop", 1)
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage_reported) == (90, 12, True)
    assert reply.usage.cached_tokens == (64 if provider == "google" else 0)
    assert reply.model == f"{provider}/m"


def test_calls_go_there_and_back(
    model: AdaptedModel, provider: str, loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    loopback.default = TAPES[provider]("", call=True)
    request = request_for()
    reply = model.complete(request)
    (call,) = reply.tool_calls
    assert (call.name, json.loads(call.arguments), reply.finish) == ("read_file", {"path": "a.py"}, "tool_calls")
    assert "read_file" in json.dumps(loopback.asked[-1].body)
    model.complete(_next(request, reply))
    sent = json.dumps(loopback.asked[-1].body)
    assert "the result" in sent
    assert sent.count("a.py") == 1
    assert ("c2ln" in sent) is (provider == "google"), "what the model signed goes back to it"
    model.complete(_next(request, replace(reply, kept=())))
    assert "the result" in json.dumps(loopback.asked[-1].body)


@pytest.mark.parametrize(("status", "error", "requests"), [(401, ModelAuthError, 1), (429, ModelRateLimited, 4)])
def test_refusals_are_told_apart_and_asked_again_where_that_helps(
    model: AdaptedModel,
    loopback: LoopbackProvider,
    request_for: Callable[..., ModelRequest],
    status: int,
    error: type[Exception],
    requests: int,
) -> None:
    loopback.default = Refuse(status=status, message="no" if model.name.startswith("bedrock") else "no, sk-secret")
    with pytest.raises(error) as caught:
        model.complete(request_for())
    assert len(loopback.asked) == requests
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["groq", "google", "mistral"])
def test_a_missing_key_is_said_before_anything_is_sent(name: str) -> None:
    with pytest.raises(ModelNotConfigured, match="needs an API key"):
        open_model(ModelSpec(provider=name, name="m"))


def _next(request: ModelRequest, reply: ModelReply) -> ModelRequest:
    said = Message(role="assistant", parts=(Text(text=reply.text),), tool_calls=reply.tool_calls, kept=reply.kept)
    results = [
        Message(role="tool", parts=(Text(text="the result"),), tool_call_id=call.call_id) for call in reply.tool_calls
    ]
    return replace(request, messages=(*request.messages, said, *results))
