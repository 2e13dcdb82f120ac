"""Proves with a real llama.cpp server that it is started once, shared, bounded, started again when killed, and ends when idle."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from agentforge.config.contract_files import contract_set
from agentforge.contracts.draft import draft_schema
from agentforge.errors import ContextTooLong, LocalModelError, ModelFileError
from agentforge.local.shared_server import Wanted, all_living, leased, living, stop_all
from agentforge.messages import Message, ModelReply, ModelRequest, Text, ToolSchema
from agentforge.models.api.hosted import HostedModel
from agentforge.models.api.model import ModelSpec
from agentforge.models.dialects.constrained import ConstrainedModel
from agentforge.models.dialects.openai_chat import OPENAI_CHAT
from agentforge.models.transport.connection import NOWHERE, LocalConnection
from agentforge.pipeline.stages import load_stages
from tests.support.tiny_model import write_tiny

Build = Callable[..., Wanted]
Open = Callable[..., HostedModel]
SCHEMA = {
    "type": "object",
    "properties": {"place": {"enum": ["cart.total", "cart.add"]}},
    "required": ["place"],
    "additionalProperties": False,
}
LONG = {"const": "ab" * 900}
"""The grammar leaves the model no way out of 1,800 characters."""


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens models as the provider does, without waiting between tries; they are closed with the test."""
    models: list[HostedModel] = []

    def build(wanted: Wanted, **settings: object) -> HostedModel:
        spec = ModelSpec(provider="local", name="tiny", base_url=NOWHERE, **settings)  # type: ignore[arg-type]
        connection = LocalConnection(wanted, read_timeout_s=30)
        models.append(HostedModel(spec, OPENAI_CHAT, connection=connection, sleep=lambda _: None))
        return models[-1]

    yield build
    for model in models:
        model.close()


def asked(text: str = "Where?", **wishes: object) -> ModelRequest:
    message = Message(role="user", parts=(Text(text=text),))
    return ModelRequest(messages=(message,), **{"max_output_tokens": 24, "temperature": 1.0, **wishes})  # type: ignore[arg-type]


def wait_until(condition: Callable[[], bool], most_s: float = 20.0) -> bool:
    until = time.monotonic() + most_s
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


def test_one_server_answers_everybody_with_schema_samples_and_its_cache(wanted: Build, opened: Open) -> None:
    first, second = opened(wanted()), opened(wanted())
    shaped = first.complete(asked(json_schema=SCHEMA, max_output_tokens=300))
    assert json.loads(shaped.text)["place"] in ("cart.total", "cart.add")
    reply = second.complete(asked(json_schema=SCHEMA, samples=8, prefill="", seed=3, max_output_tokens=300))
    assert reply.requests == 1
    assert len(reply.samples) == 8
    assert {json.loads(text)["place"] for text in reply.samples} <= {"cart.total", "cart.add"}
    assert reply.usage.cached_tokens >= reply.usage.prompt_tokens - 1 > 0  # the prompt of the first one
    assert opened(wanted()).complete(asked(prefill="def ", samples=9)).samples[8].startswith("def ")
    assert len(all_living(wanted().folder)) == 1


def test_calls_are_constrained_by_the_schemas_of_all_contracts(wanted: Build, opened: Open) -> None:
    contracts, model = contract_set(None), ConstrainedModel(opened(wanted(context=16384)))  # half of it for each slot

    def submitting(artifact: Mapping[str, object], tokens: int) -> ModelReply:
        parameters = {"type": "object", "properties": {"artifact": artifact}, "required": ["artifact"]}
        tool = ToolSchema(name="submit_artifact", description="Hand in.", parameters=parameters)
        return model.complete(asked(tools=(tool,), max_output_tokens=tokens))

    for stage in load_stages().values():
        begun = submitting(draft_schema(contracts.get(stage.produces), omit=stage.omit), 60)
        assert begun.text.lstrip().startswith("{")  # cut off, and so far a call: every schema is understood
    done = submitting({"enum": ["small", "large"]}, 600)
    (call, *_) = done.tool_calls
    assert call.name == "submit_artifact"
    assert json.loads(call.arguments)["artifact"] in ("small", "large")


def test_two_processes_at_once_start_one_server(wanted: Build, opened: Open, tmp_path: Path) -> None:
    order = wanted()
    code = (
        "import sys; from pathlib import Path; from agentforge.local.shared_server import Wanted, leased\n"
        f"w = Wanted(folder=Path({str(order.folder)!r}), file=Path({str(order.file)!r}), wishes={dict(order.wishes)!r})\n"
        "with leased(w) as served: print(served.pid)\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    pids = {one.communicate(timeout=60)[0].strip() for one in both}
    served = living(order)
    assert served is not None
    assert pids == {str(served.pid)}
    assert os.getsid(served.pid) == served.pid  # Ctrl-C in a terminal does not reach it


def test_a_server_that_is_killed_in_the_middle_of_a_reply_is_started_again(wanted: Build, opened: Open) -> None:
    order, killed = wanted(context=4096), []

    def kill(_: str) -> None:
        served = living(order)
        if served is not None and not killed:
            killed.append(served.pid)
            os.kill(served.pid, signal.SIGKILL)

    model = opened(order)
    reply = model.complete(asked(json_schema=LONG, max_output_tokens=3500), on_delta=kill)
    served = living(order)
    assert reply.requests >= 2
    assert served is not None
    assert killed and served.pid != killed[0]


def test_a_server_that_is_stopped_is_gone_and_comes_back_when_asked(wanted: Build, opened: Open) -> None:
    order, model = wanted(), opened(wanted())
    model.complete(asked())
    (ended,) = stop_all(order.folder)
    assert living(order) is None
    assert not order.place("json").exists()
    assert model.complete(asked()).text is not None
    served = living(order)
    assert served is not None and served.pid != ended.pid


def test_a_server_ends_when_nobody_has_asked_it_for_a_while(wanted: Build, opened: Open) -> None:
    order = wanted(idle_s=1)
    with leased(order) as served:
        assert wait_until(lambda: time.time() - order.place("json").stat().st_mtime > 1.6)
        assert living(order) == served  # a lease is held: a long step
    assert wait_until(lambda: living(order) is None)
    assert not order.place("json").exists()


def test_an_interrupted_reply_lets_go_of_the_lease_and_the_server_goes_on(wanted: Build, opened: Open) -> None:
    order = wanted(context=4096)

    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        opened(order).complete(asked(json_schema=LONG, max_output_tokens=3500), on_delta=interrupt)
    with order.place("lease").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # nobody holds it
    served = living(order)
    assert opened(order).complete(asked()).requests == 1
    assert living(order) == served


def test_only_those_who_know_the_key_are_answered(wanted: Build, opened: Open) -> None:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    with leased(wanted()) as served:
        body = json.dumps({"messages": [{"role": "user", "content": "x"}]}).encode()
        with pytest.raises(HTTPError, match="401"):
            urlopen(Request(f"{served.url}/v1/chat/completions", body, {"Content-Type": "application/json"}))
    assert wanted().place("json").stat().st_mode & 0o077 == 0


def test_a_step_that_is_larger_than_the_context_is_refused_as_such(wanted: Build, opened: Open) -> None:
    model = opened(wanted(context=256))
    with pytest.raises(ContextTooLong, match="256"):
        model.complete(asked("x" * 600))


def test_a_model_that_only_repeats_itself_is_cut_off(wanted: Build, opened: Open) -> None:
    model = opened(wanted(context=4096), profile="small")
    reply = model.complete(asked(json_schema=LONG, max_output_tokens=3500))
    assert reply.finish == "length"
    assert 900 <= len(reply.text) < 2500


@pytest.mark.parametrize(
    ("file", "reason"), [("alien", "unknown model architecture: 'martian'"), ("half", "corrupted or incomplete")]
)
def test_a_file_that_llama_cpp_cannot_load_is_refused_in_its_words(
    wanted: Build, opened: Open, tiny: Path, tmp_path: Path, file: str, reason: str
) -> None:
    bad = tmp_path / f"{file}.gguf"
    if file == "alien":
        write_tiny(bad, architecture="martian")
    else:
        bad.write_bytes(tiny.read_bytes()[:60_000])
    with pytest.raises(LocalModelError, match=reason):
        opened(wanted(bad)).complete(asked())
    assert all_living(wanted().folder) == ()


def test_a_server_may_not_take_more_memory_than_it_was_given(wanted: Build, opened: Open) -> None:
    with pytest.raises(LocalModelError, match=r"could not load the model|was killed"):
        opened(wanted(memory_mb=150)).complete(asked())


def test_a_missing_or_foreign_file_is_named(wanted: Build, opened: Open, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"gone\.gguf cannot be read"):
        opened(wanted(tmp_path / "gone.gguf")).complete(asked())
    (tmp_path / "text.gguf").write_text("not a model")
    with pytest.raises(ModelFileError, match="not a GGUF file"):
        opened(wanted(tmp_path / "text.gguf")).complete(asked())
