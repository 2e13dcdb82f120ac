"""The result channel takes genuine records and names everything else."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

import agentforge.testing.channel as channel_module
from agentforge.testing.channel import Channel, verified
from agentforge.underway import heard_by, underway

STREAM = Path(channel_module.__file__).parent / "programs" / "stream.py"


def _open_stream():
    spec = importlib.util.spec_from_file_location("stream_under_test", STREAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.open_stream


def test_records_arrive_in_order_whatever_their_size_and_characters():
    channel = Channel()
    send = _open_stream()(channel.descriptor, channel.key)
    records = [{"kind": "result", "id": "ü\x00\ud800\n", "text": "x" * 200_000}, {"kind": "finished", "exit": 0}]
    for record in records:
        send(record)
    assert channel.close().records == tuple(records)


@pytest.mark.parametrize(
    ("damage", "kept", "problem"),
    [
        (lambda lines: [lines[0], b'{"n":1,"s":"00","r":{}}', lines[1]], 1, "something wrote into"),
        (lambda lines: [lines[1]], 0, "something wrote into"),
        (lambda lines: [lines[0], lines[0]], 1, "something wrote into"),
        (lambda lines: [lines[0], lines[1].replace(b'"a":2', b'"a":3')], 1, "something wrote into"),
        (lambda lines: [b"garbage"], 0, "something wrote into"),
    ],
    ids=["foreign line", "lost line", "repeated line", "changed line", "garbage"],
)
def test_a_stream_that_somebody_touched_ends_where_it_was_touched(damage, kept, problem):
    read_end, write_end = os.pipe()
    send = _open_stream()(write_end, b"key")
    send({"a": 1})
    send({"a": 2})
    os.close(write_end)
    lines = os.read(read_end, 65536).splitlines()
    os.close(read_end)
    records, problems = verified(b"\n".join(damage(lines)) + b"\n", key=b"key")
    assert len(records) == kept and problems[0].startswith(problem)
    assert verified(b"\n".join(lines) + b"\n", key=b"other key")[0] == ()


def test_a_torn_last_record_is_a_problem():
    assert verified(b'{"n":0', key=b"key") == ((), ("the last result record is torn",))


def test_a_process_that_keeps_the_channel_open_is_named_and_does_not_hang_us(monkeypatch):
    monkeypatch.setattr(channel_module, "_DRAIN_S", 0.05)
    channel = Channel()
    held = os.dup(channel.descriptor)
    try:
        assert channel.close().problems == (
            "a process that the tests started is still alive and holds the result channel",
        )
    finally:
        os.close(held)


def test_no_more_tests_are_told_than_there_are():
    told = []
    with heard_by(lambda now: told.append((now.done, now.of)) if now is not None and now.unit else None):
        with underway("tries"):
            progress = channel_module._Progress()
        progress.see(b'{"n":0,"s":"00","r":{"kind":"collected","ids":["a","b"]}}\n')
        progress.see(b'{"kind":"result"}\n' * 2)
        progress.see(b'{"kind":"result"}\n')
    assert told == [(2, 2), (3, 0)]
