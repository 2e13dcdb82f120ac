"""Messages as JSON lines on standard input: `{"type": "user", "message": {"role": "user", "content": "..."}}`.

A message with `"steer": true` reaches the turn that goes on before its next step, `{"type": "interrupt"}` stops it; every other
message is a turn of its own.
"""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from collections.abc import Iterator
from threading import Condition, Thread
from typing import TYPE_CHECKING

from agentforge.errors import UsageError

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat

_LONGEST = 20_000_000
_CHUNK = 65_536
_HINT = 'each line: {"type": "user", "message": {"role": "user", "content": "..."}}, or {"type": "interrupt"}'


class StreamedInput:
    """The messages of standard input; a thread reads on while a turn goes on, so that words reach it. Read it once.

    Args:
        chat: the session that they are said in.
    """

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._changed = Condition()
        self._waiting: deque[str | UsageError] = deque()
        self._turning = False
        self._ended = False

    def messages(self) -> Iterator[str]:
        """Each message that begins a turn, when the turn before it is over, until the input ends.

        Raises:
            UsageError: a line is no message of a user; everything before it was said.
        """
        Thread(target=self._read, daemon=True).start()
        while (message := self._next()) is not None:
            if isinstance(message, UsageError):
                raise message
            yield message

    def _next(self) -> str | UsageError | None:
        """The next one; words that came too late for a turn begin one. None = there are no more."""
        with self._changed:
            self._turning = False
            self._waiting.extendleft(text for text, _ in reversed(self._chat.inbox.taken_back()))
            self._changed.wait_for(lambda: self._waiting or self._ended)
            self._turning = bool(self._waiting)
            return self._waiting.popleft() if self._waiting else None

    def _read(self) -> None:
        for number, data in _lines(sys.stdin.fileno()):
            try:
                self._take(data, number)
            except UsageError as error:
                self._put(error)
                break
        with self._changed:
            self._ended = True
            self._changed.notify()

    def _take(self, data: bytes, number: int) -> None:
        if len(data) > _LONGEST:
            raise UsageError(f"line {number} of standard input has more than {_LONGEST:,} bytes", hint=_HINT)
        value = _parsed(data, number)
        if value.get("type") == "interrupt":
            with self._changed:
                if self._turning:
                    self._chat.stop()
            return
        text = _text(value, number)
        with self._changed:
            if value.get("steer") is True and self._turning:
                self._chat.inbox.say(text)
                return
        self._put(text)

    def _put(self, item: str | UsageError) -> None:
        with self._changed:
            self._waiting.append(item)
            self._changed.notify()


def _lines(source: int) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, with their numbers; one that is too long comes as far as it was read."""
    begun, number = b"", 0
    while data := os.read(source, _CHUNK):
        *lines, begun = (begun + data).split(b"\n")
        if len(begun) > _LONGEST:
            lines, begun = [*lines, begun], b""
        for line in lines:
            number += 1
            if line.strip():
                yield number, line
    if begun.strip():
        yield number + 1, begun


def _parsed(data: bytes, number: int) -> dict[str, object]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise UsageError(f"line {number} of standard input is not a message: {exc!r}", hint=_HINT) from exc
    if not isinstance(value, dict):
        raise UsageError(f"line {number} of standard input is not a message of a user", hint=_HINT)
    return value


def _text(value: dict[str, object], number: int) -> str:
    message = value.get("message") if value.get("type") == "user" else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        texts = [str(part.get("text", "")) for part in content if isinstance(part, dict) and part.get("type") == "text"]
        if len(texts) != len(content):
            raise UsageError(f"line {number} of standard input holds something that is not a text", hint=_HINT)
        content = "\n".join(texts)
    if not isinstance(content, str) or not content.strip():
        raise UsageError(f"line {number} of standard input is not a message of a user", hint=_HINT)
    return content
