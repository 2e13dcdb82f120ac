"""What is piped into a command. A pipe that nobody writes to must not hang it."""

from __future__ import annotations

import os
import select
import stat
import sys

from agentforge.errors import UsageError
from agentforge.workspace.files.file_access import decoded

MOST_BYTES = 20_000_000
_PATIENCE_S = 0.2


def piped_text(*, waits: bool) -> str:
    """Read standard input to its end, as text; "" at a terminal.

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
    """What came over standard input as text, also where it is UTF-16 or Latin-1.

    Raises:
        UsageError: it is no text.
    """
    text = decoded(data)
    if text is None:
        raise UsageError(
            f"standard input holds binary data ({len(data):,} bytes), and only text can be handed over",
            hint="put it into a file of the project and name the file: the agent can look at it with commands",
        )
    return text


def _speaks(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return True
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return bool(select.select([descriptor], [], [], _PATIENCE_S)[0])
    return False
