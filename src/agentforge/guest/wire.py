"""JSON-RPC over two descriptors, one message a line; nothing blocks beyond its deadline."""

from __future__ import annotations

import json
import os
import select
import time
from typing import Any

from agentforge.errors import ToolchainError

Message = dict[str, Any]

_LONGEST_LINE = 16 * 1024 * 1024
_CHUNK = 65_536


class WireClosed(Exception):
    """The other side is gone."""


class DeadlinePassed(Exception):
    """Nothing came in time."""


class GuestWire:
    """One end of a connection.

    Attributes:
        noise: the last line that was no message; programs greet people on their standard output.
    """

    def __init__(self, reader: int, writer: int) -> None:
        self.noise = ""
        self._reader = reader
        self._writer = writer
        self._pending = bytearray()
        self._lines: list[bytes] = []
        os.set_blocking(writer, False)

    def send(self, message: Message, *, deadline: float) -> None:
        """Send one message.

        Args:
            deadline: of time.monotonic.
        Raises:
            WireClosed: the other side reads no more.
            DeadlinePassed: it does not read.
        """
        data = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        while data:
            _await(self._writer, select.POLLOUT, deadline)
            try:
                data = data[os.write(self._writer, data) :]
            except BrokenPipeError as exc:
                raise WireClosed from exc

    def receive(self, *, deadline: float) -> Message:
        """Wait for the next message; lines that are none are left out.

        Raises:
            WireClosed: the other side ended.
            DeadlinePassed: nothing came in time.
            ToolchainError: a line without end.
        """
        while True:
            while self._lines:
                found = self._message(self._lines.pop(0))
                if found is not None:
                    return found
            self._read(deadline)

    def _read(self, deadline: float) -> None:
        _await(self._reader, select.POLLIN, deadline)
        chunk = os.read(self._reader, _CHUNK)
        if not chunk:
            raise WireClosed
        self._pending += chunk
        *whole, rest = bytes(self._pending).split(b"\n") if b"\n" in chunk else [bytes(self._pending)]
        self._lines += whole
        self._pending = bytearray(rest)
        if len(self._pending) > _LONGEST_LINE:
            raise ToolchainError(
                f"the agent wrote a line of more than {_LONGEST_LINE} bytes", hint="its messages are one a line"
            )

    def _message(self, line: bytes) -> Message | None:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and ("method" in value or "id" in value):
            return value
        if line.strip():
            self.noise = line.decode("utf-8", "replace").strip()[:300]
        return None


def _await(descriptor: int, event: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    if not poll.poll(max(deadline - time.monotonic(), 0) * 1000):
        raise DeadlinePassed
