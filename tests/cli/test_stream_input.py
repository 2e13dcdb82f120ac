"""Proves cli/runs/stream_input.py: what comes while a turn goes on steers it, stops it, or waits for its own turn."""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from agentforge.cli.runs.stream_input import StreamedInput
from agentforge.errors import UsageError


class Session:
    """What the input needs of a chat: an inbox, and a way to stop the turn."""

    def __init__(self) -> None:
        self.inbox = self
        self.heard: SimpleQueue[str] = SimpleQueue()
        self.laid: deque[tuple[str, tuple[str, ...]]] = deque()

    def say(self, text: str) -> None:
        """Lay words down."""
        self.laid.append((text, ()))
        self.heard.put(text)

    def taken_back(self) -> list[tuple[str, tuple[str, ...]]]:
        """What nobody has read."""
        left, self.laid = list(self.laid), deque()
        return left

    def stop(self) -> None:
        """Stop the turn."""
        self.heard.put("stopped")


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """The other end of standard input."""
    read, write = os.pipe()
    with os.fdopen(read) as source, os.fdopen(write, "w", buffering=1) as sink:
        monkeypatch.setattr(sys, "stdin", source)
        yield sink


def line(content: object, **more: object) -> str:
    """A message."""
    return json.dumps({"type": "user", "message": {"role": "user", "content": content}, **more}) + "\n"


def test_words_steer_the_turn_that_goes_on_and_an_interrupt_stops_it(pipe: Any) -> None:
    session = Session()
    said = StreamedInput(session).messages()  # type: ignore[arg-type] # as much of a chat as is needed
    pipe.write(line("first"))
    assert next(said) == "first"
    pipe.write("\n" + line("to the side", steer=True))
    assert session.heard.get(timeout=60) == "to the side"
    session.laid.clear()  # the turn has read it
    pipe.write('{"type": "interrupt"}\n' + line([{"type": "text", "text": "second"}]))
    assert session.heard.get(timeout=60) == "stopped"
    assert next(said) == "second"
    pipe.write(line("too late", steer=True))
    assert session.heard.get(timeout=60) == "too late"
    assert next(said) == "too late", "what the turn did not read begins the next one"
    pipe.write(line("third")[:-1])
    pipe.close()
    assert list(said) == ["third"]


@pytest.mark.parametrize("bad", ["{", "[]", '{"type": "assistant"}\n', line(""), line([{"type": "image"}])])
def test_a_line_that_is_no_message_is_named_behind_everything_before_it(pipe: Any, bad: str) -> None:
    said = StreamedInput(Session()).messages()  # type: ignore[arg-type]
    pipe.write(line("first") + bad)
    pipe.close()
    assert next(said) == "first"
    with pytest.raises(UsageError, match="line 2 of standard input"):
        next(said)
