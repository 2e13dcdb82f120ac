"""Proves models/recorded.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge import errors
from agentforge.messages import ModelRequest, reply_value, request_value
from agentforge.models.api.hosted import HostedModel
from agentforge.models.stand_ins.recorded import RecordedModel, recorded_line
from agentforge.models.stand_ins.scripted import place_of
from tests.support.loopback.provider import LoopbackProvider, Say

RequestFor = Callable[..., ModelRequest]


def record(path: Path, model: HostedModel, request: ModelRequest) -> None:
    """Append the reply of a model to a recording."""
    line = recorded_line(*place_of(request), request=request_value(request), reply=model.complete(request))
    with path.open("ab") as file:
        file.write(line + b"\n")


@pytest.fixture
def recording(
    tmp_path: Path, connect: Callable[..., HostedModel], loopback: LoopbackProvider, request_for: RequestFor
) -> Path:
    """A recording of three replies."""
    path = tmp_path / "run.jsonl"
    model = connect()
    loopback.plan(
        Say(text="one", thinking="hm", calls=(("f", '{"x": '),), usage=(9, 8, 7)),
        Say(text="two ü"),
        Say(text="\ud83d three", usage=None),
    )
    for place in (("RED", 1), ("RED", 2), ("GREEN", 1)):
        record(path, model, request_for(*place))
    model.close()
    return path


def test_a_recording_gives_the_same_replies_without_a_server(
    recording: Path, connect: Callable[..., HostedModel], loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    model = RecordedModel(recording)
    reply = model.complete(request_for("RED", 1))
    loopback.plan(Say(text="one", thinking="hm", calls=(("f", '{"x": '),), usage=(9, 8, 7)))
    assert reply_value(reply) == reply_value(connect().complete(request_for("RED", 1)))
    assert model.complete(request_for("GREEN", 1)).text == "\ufffd three"
    told: list[str] = []
    assert model.complete(request_for("RED", 2), on_delta=told.append).text == "two ü" == told[0]
    assert model.differences == 0


def test_another_request_at_the_same_place_is_counted_or_refused(recording: Path, request_for: RequestFor) -> None:
    other = request_for("RED", 1, user="Something else.")
    model = RecordedModel(recording)
    assert model.complete(other).text == "one"
    assert model.differences == 1
    with pytest.raises(errors.ModelRequestRejected, match="request 1 of stage RED"):
        RecordedModel(recording, strict=True).complete(other)


def test_a_place_that_was_not_recorded_is_named(recording: Path, request_for: RequestFor) -> None:
    with pytest.raises(errors.ModelRequestRejected, match="has no reply 3 for stage RED"):
        RecordedModel(recording).complete(request_for("RED", 3))


def test_a_torn_last_line_is_left_out(recording: Path, request_for: RequestFor) -> None:
    recording.write_bytes(recording.read_bytes() + b'{"key": {"sta')
    assert RecordedModel(recording).complete(request_for("RED", 2)).text == "two ü"


def test_of_two_replies_at_one_place_the_later_counts(
    recording: Path, connect: Callable[..., HostedModel], loopback: LoopbackProvider, request_for: RequestFor
) -> None:
    loopback.plan(Say(text="again"))
    record(recording, connect(), request_for("RED", 1))
    assert RecordedModel(recording).complete(request_for("RED", 1)).text == "again"


@pytest.mark.parametrize("line", ["{", "[]", '{"key": {"stage": "RED"}}', json.dumps({"key": 1})])
def test_a_bad_line_is_told_with_its_number(line: str, recording: Path) -> None:
    recording.write_bytes(recording.read_bytes() + line.encode() + b"\n")
    with pytest.raises(errors.ConfigError, match="line 4 is not a recorded reply"):
        RecordedModel(recording)


def test_a_missing_recording_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(errors.ConfigError, match="cannot be read"):
        RecordedModel(tmp_path / "none.jsonl")
