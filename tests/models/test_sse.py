"""Proves the events of models/transport/wire.py."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agentforge.errors import ModelReplyBroken
from agentforge.models.transport import wire
from agentforge.models.transport.wire import EventSplitter


def split(*chunks: bytes) -> list[str]:
    """All events of a stream that comes in these chunks."""
    splitter = EventSplitter()
    return [event for chunk in chunks for event in splitter.feed(chunk)] + splitter.close()


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: one\n\ndata: two\n\n", ["one", "two"]),
        (b"data:one\r\n\r\ndata:two\r\n\r\n", ["one", "two"]),
        (b"data: one\r\rdata: two\r\r", ["one", "two"]),
        (b"\xef\xbb\xbfdata: one\n\n", ["one"]),
        (b": ping\n\nevent: x\ndata: one\nid: 3\n\n", ["one"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data\n\n", [""]),
        (b"data:  two spaces\n\n", [" two spaces"]),
        (b"data: unfinished", ["unfinished"]),
        (b"event: only a name\n\n", []),
        (b"", []),
        ("data: größer 😀\n\n".encode(), ["größer 😀"]),
        (b"data: \xff\n\n", ["\ufffd"]),
    ],
)
def test_events_are_read_as_the_standard_says(stream: bytes, events: list[str]) -> None:
    assert split(stream) == events


@given(
    events=st.lists(
        st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8")), min_size=1, max_size=3), max_size=5
    ),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    data=st.data(),
)
def test_any_cut_of_the_bytes_gives_the_same_events(events: list[list[str]], end: str, data: st.DataObject) -> None:
    lines = [line for event in events for line in ["event: e", *(f"data: {text}" for text in event), ""]]
    stream = "".join(line + end for line in lines).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    chunks = [stream[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert split(*chunks) == ["\n".join(event) for event in events]


def test_an_event_without_end_is_refused_instead_of_filling_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_MAX_EVENT_BYTES", 1000)
    splitter = EventSplitter()
    with pytest.raises(ModelReplyBroken):
        for _ in range(11):
            splitter.feed(b"x" * 100)
