"""Proves that several samples, schemas, begun answers, stops and seeds reach every kind of server as far as it can."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.errors import ModelRequestRejected
from agentforge.messages import ModelReply, ModelRequest, request_from, request_value
from agentforge.models.api.abilities import of_provider, refused, within
from agentforge.models.api.hosted import HostedModel
from agentforge.models.api.model import ModelSpec
from agentforge.models.dialects.openai_chat import OPENAI_CHAT
from agentforge.models.stand_ins.recorded import RecordedModel, recorded_line
from agentforge.models.stand_ins.scripted import ScriptedModel

SCHEMA = {"type": "object", "properties": {"place": {"enum": ["a", "b"]}}}
Server = Callable[[dict[str, object]], tuple[int, dict[str, object]]]


class Served:
    """A connection to a server that is a function from body to status and body."""

    def __init__(self, server: Server) -> None:
        self.bodies: list[dict[str, object]] = []
        self._server = server
        self.headers = {"content-type": "application/json"}
        self.status = 0

    def post(self, url: str, *, headers: Mapping[str, str], body: bytes) -> Served:
        self.bodies.append(json.loads(body))
        self.status, value = self._server(self.bodies[-1])
        self._data = json.dumps(value).encode()
        return self

    def chunks(self) -> list[bytes]:
        return [self._data]

    def close(self) -> None: ...

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None: ...


def answered(*texts: str) -> tuple[int, dict[str, object]]:
    choices = [
        {"index": index, "message": {"content": text}, "finish_reason": "stop"} for index, text in enumerate(texts)
    ]
    return 200, {"choices": choices, "usage": {"prompt_tokens": 10, "completion_tokens": 2}}


def opened(server: Server, provider: str = "local", **settings: object) -> tuple[HostedModel, Served]:
    served = Served(server)
    spec = ModelSpec(provider=provider, name="m", base_url="http://h", **settings)  # type: ignore[arg-type]
    return HostedModel(spec, OPENAI_CHAT, connection=served), served  # type: ignore[arg-type]


def wished(request_for: Callable[..., ModelRequest], **wishes: object) -> ModelRequest:
    return replace(request_for(), tools=(), **wishes)  # type: ignore[arg-type]


def test_all_wishes_reach_a_server_that_can_do_them(request_for: Callable[..., ModelRequest]) -> None:
    model, served = opened(lambda body: answered("x1", "y2", "z3"))
    request = wished(request_for, samples=3, json_schema=SCHEMA, prefill="x", stop=("###",), seed=7)
    reply = model.complete(request)
    assert reply.samples == ("x1", "xy2", "xz3")  # an answer that was not repeated from its beginning is made whole
    (body,) = served.bodies
    assert body["n"] == 3
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA  # type: ignore[index]
    assert (body["stop"], body["seed"]) == (["###"], 7)
    assert body["messages"][-1] == {"role": "assistant", "content": "x"}  # type: ignore[index]


def test_a_server_that_gives_one_answer_at_a_time_is_asked_again(request_for: Callable[..., ModelRequest]) -> None:
    model, served = opened(lambda body: answered(f"seed {body['seed']}"), "custom")
    reply = model.complete(wished(request_for, samples=3, seed=1))
    assert reply.samples == ("seed 1", "seed 2", "seed 3")
    assert (reply.requests, reply.usage.prompt_tokens, reply.usage.completion_tokens) == (3, 30, 6)
    assert ["n" in body for body in served.bodies] == [True, False, False]


def test_what_a_server_refuses_is_left_out_from_then_on(request_for: Callable[..., ModelRequest]) -> None:
    def server(body: dict[str, object]) -> tuple[int, dict[str, object]]:
        if "response_format" in body:
            return 400, {"error": {"message": "response_format is not supported"}}
        return answered("fine")

    model, served = opened(server, "custom")
    request = wished(request_for, json_schema=SCHEMA, stop=("x",))
    assert model.complete(request).requests == 2
    assert model.complete(request).requests == 1
    assert "stop" in served.bodies[-1]
    assert model.abilities == of_provider("custom") - {"json_schema"}


def test_a_refusal_of_a_plain_request_stays_a_refusal(request_for: Callable[..., ModelRequest]) -> None:
    model, served = opened(lambda body: (400, {"error": {"message": "no such role"}}))
    with pytest.raises(ModelRequestRejected, match="no such role"):
        model.complete(wished(request_for))
    assert len(served.bodies) == 1


def test_vllm_is_told_by_flags_to_go_on_from_a_begun_answer(request_for: Callable[..., ModelRequest]) -> None:
    model, served = opened(lambda body: answered("def f"), "custom", abilities=frozenset({"continue"}))
    assert model.complete(wished(request_for, prefill="```\n")).text == "```\ndef f"
    assert served.bodies[0]["continue_final_message"] is True
    assert served.bodies[0]["add_generation_prompt"] is False


def test_a_request_is_cut_down_to_what_a_server_can(request_for: Callable[..., ModelRequest]) -> None:
    full = wished(request_for, samples=2, json_schema=SCHEMA, prefill="x", stop=("s",), seed=1)
    assert within(full, frozenset()) == wished(request_for)
    assert within(full, of_provider("local")) == full
    assert refused("n_cmpl is too large", frozenset({"samples", "seed"})) == {"samples"}
    assert refused("bad request", frozenset({"samples", "seed"})) == {"samples", "seed"}


def test_tokens_of_all_streamed_samples_count(request_for: Callable[..., ModelRequest]) -> None:
    reader = OPENAI_CHAT.reader()
    for index, text in ((1, "a"), (0, "x"), (1, "b"), (0, "y"), (1, "c")):
        reader.feed(json.dumps({"choices": [{"index": index, "delta": {"content": text}}]}))
    reader.feed(json.dumps({"choices": [{"index": 1, "delta": {}, "finish_reason": "length"}]}))
    reader.feed(json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    reader.feed(json.dumps({"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2}}))
    answer = reader.answer()
    assert (answer.text, answer.others, answer.finish) == ("xy", ("abc",), "stop")
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 5


def test_the_record_of_a_plain_request_is_what_it_always_was(request_for: Callable[..., ModelRequest]) -> None:
    assert set(request_value(request_for())) == {"messages", "tools", "max_output_tokens", "temperature"}
    full = wished(request_for, samples=2, json_schema=SCHEMA, prefill="x", stop=("s",), seed=1)
    assert replace(request_from(request_value(full)), labels=full.labels) == full


def test_a_script_gives_as_many_samples_as_were_asked_for(
    request_for: Callable[..., ModelRequest], tmp_path: Path
) -> None:
    script = tmp_path / "s.yaml"
    script.write_text("green:\n  - samples: [one, two, three]\n")
    recording = tmp_path / "r.jsonl"

    def texts(model: ScriptedModel | RecordedModel, samples: int) -> ModelReply:
        return model.complete(wished(request_for, samples=samples))

    reply = texts(ScriptedModel(script), 2)
    assert reply.samples == ("one", "two")
    line = recorded_line("GREEN", 1, request=request_value(wished(request_for, samples=2)), reply=reply)
    recording.write_bytes(line + b"\n")
    assert texts(ScriptedModel(script), 1).samples == ("one",)
    assert texts(RecordedModel(recording), 2).samples == ("one", "two")


def test_text_that_llama_cpp_cannot_read_tool_calls_from_is_text(request_for: Callable[..., ModelRequest]) -> None:
    reader = OPENAI_CHAT.reader()
    reader.feed(json.dumps({"choices": [{"index": 0, "delta": {"content": "so"}}]}))
    words = "The model produced output that does not match the expected peg-native format"
    reader.feed(json.dumps({"error": {"code": 500, "message": words, "type": "server_error"}}))
    assert reader.ended
    assert (reader.answer().text, reader.answer().finish) == ("so", "stop")
