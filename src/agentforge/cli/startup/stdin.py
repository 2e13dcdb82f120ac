"""What is piped into a command. A pipe that nobody writes to must not hang it.

Messages as JSON lines on standard input: `{"type": "user", "message": {"role": "user", "content": "..."}}`.
"""

from __future__ import annotations

import json
import os
import select
import stat
import sys
from collections.abc import Iterator

from agentforge.errors import UsageError

MOST_BYTES = 20_000_000
_PATIENCE_S = 0.2


def piped_text(*, waits: bool) -> str:
    """Read standard input to its end, as UTF-8; "" at a terminal.

    Args:
        waits: the text is wanted. Else a pipe or socket that stays silent for a moment is left alone.
    Raises:
        UsageError: it holds more than 20 MB, or is no text.
    """
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ""
    descriptor = sys.stdin.fileno()
    if not waits and not _speaks(descriptor):
        return ""
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UsageError(
            f"standard input has more than {MOST_BYTES} bytes", hint="put it into a file and name the file"
        )
    return as_text(data)


def as_text(data: bytes) -> str:
    """What came over standard input as text.

    Raises:
        UsageError: it is no text.
    """
    if b"\0" in data:
        raise UsageError(
            f"standard input holds binary data ({len(data):,} bytes), and only text can be handed over",
            hint="put it into a file of the project and name the file: the agent can look at it with commands",
        )
    return data.decode("utf-8", "replace")


def _speaks(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return True
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return bool(select.select([descriptor], [], [], _PATIENCE_S)[0])
    return False


_LONGEST = 20_000_000
_HINT = 'each line: {"type": "user", "message": {"role": "user", "content": "..."}}'


def messages() -> Iterator[str]:
    """The messages of standard input, one at a time, until it ends; each is read when it is asked for.

    Raises:
        UsageError: a line is no message of a user.
    """
    number = 0
    while data := sys.stdin.buffer.readline(_LONGEST + 1):
        number += 1
        if len(data) > _LONGEST:
            raise UsageError(f"line {number} of standard input has more than {_LONGEST:,} bytes", hint=_HINT)
        if data.strip():
            yield _message(data, number)


def _message(data: bytes, number: int) -> str:
    try:
        value = json.loads(data)
        content = value["message"]["content"] if value["type"] == "user" else None
    except (ValueError, KeyError, TypeError) as exc:
        raise UsageError(f"line {number} of standard input is not a message: {exc!r}", hint=_HINT) from exc
    if isinstance(content, list):
        texts = [str(part.get("text", "")) for part in content if isinstance(part, dict) and part.get("type") == "text"]
        if len(texts) != len(content):
            raise UsageError(f"line {number} of standard input holds something that is not a text", hint=_HINT)
        content = "\n".join(texts)
    if not isinstance(content, str) or not content.strip():
        raise UsageError(f"line {number} of standard input is not a message of a user", hint=_HINT)
    return content
