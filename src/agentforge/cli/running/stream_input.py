"""Messages as JSON lines on standard input: `{"type": "user", "message": {"role": "user", "content": "..."}}`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from agentforge.errors import UsageError

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
