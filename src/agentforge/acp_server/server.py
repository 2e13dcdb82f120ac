"""Serving one editor over standard input and output, which carry the protocol and nothing else.

The two ends of the editor's connection: taken away from everybody else, and ended without losing an answer.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import IO, TYPE_CHECKING, Any

from agentforge.acp_server.agent import EditorAgent, OpenPlace
from agentforge.errors import ToolchainError
from agentforge.installation import command_for

if TYPE_CHECKING:
    from acp.connection import StreamEvent


_CLOSING_S = 5.0
_POLL_S = 0.01


def serve(open_place: OpenPlace, *, model: str | None, approval: str) -> None:
    """Serve until standard input ends.

    Raises:
        ToolchainError: the extra is not installed.
    Side effects: what anybody prints meanwhile goes to standard error; children read nothing.
    """
    try:
        from agentforge.acp_server.agent import EditorAgent
    except ImportError as exc:
        hint = command_for("acp")
        raise ToolchainError(f"the ACP server cannot run: {exc.name} is missing", hint=hint) from exc
    logging.getLogger().setLevel(logging.CRITICAL)
    reader, writer = claimed()
    with suppress(asyncio.CancelledError, ConnectionError):  # asked to stop; or the editor is gone
        asyncio.run(_served(EditorAgent(open_place, model=model, approval=approval), reader, writer))


async def _served(agent: EditorAgent, reader: int, writer: int) -> None:
    import acp

    loop = asyncio.get_running_loop()
    source = asyncio.StreamReader(limit=BUFFER_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(source), os.fdopen(reader, "rb", buffering=0))
    end = os.fdopen(writer, "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, end)
    out = asyncio.StreamWriter(transport, protocol, None, loop)
    serving = asyncio.current_task()
    assert serving is not None
    for number in (signal.SIGTERM, signal.SIGHUP):  # as the end of the input: turns are closed, sessions let go
        loop.add_signal_handler(number, serving.cancel)
    intake = Intake(source, refuse=out.write, stop=agent.stop_all, gone=transport.is_closing)
    passing = loop.create_task(intake.pass_on())
    try:
        await acp.run_agent(agent, out, intake.stream, use_unstable_protocol=True, observers=[intake.observe])  # type: ignore[arg-type] # has the methods of acp.Agent
    finally:
        passing.cancel()
        await agent.close()
        transport.close()
        with suppress(TimeoutError):  # an editor that reads no more
            await asyncio.wait_for(_closed(end), _CLOSING_S)


async def _closed(end: IO[bytes]) -> None:
    """Wait until what was written has gone out."""
    while not end.closed:
        await asyncio.sleep(_POLL_S)


BUFFER_BYTES = 64 * 1024 * 1024
_CHUNK = 65_536
_SETTLING_S = 30.0
_END_POLL_S = 0.02


def claimed() -> tuple[int, int]:
    """Take standard input and output: what others print goes to standard error, what they read is empty.

    Returns:
        Descriptors of pipes, sockets or terminals; files are read and written through a pipe.
    """
    sys.stdout.flush()
    reader, writer = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return _read_through(reader), _written_through(writer)


class Intake:
    """What the editor sends, passed on; its end is told only when every request that came before has its answer.

    What is no message is refused here: the connection would end with it.

    Args:
        refuse: sends a line to the editor.
        stop: called at the end of the input: nobody can answer questions any more.
        gone: whether nobody reads the answers any more.
    """

    def __init__(
        self,
        source: asyncio.StreamReader,
        *,
        refuse: Callable[[bytes], None],
        stop: Callable[[], None],
        gone: Callable[[], bool],
    ) -> None:
        self.stream = asyncio.StreamReader(limit=BUFFER_BYTES)
        self._source = source
        self._refuse = refuse
        self._stop = stop
        self._gone = gone
        self._begun: list[bytes] = []
        self._open = 0

    async def pass_on(self) -> None:
        """Pass everything on until the input ends and is answered."""
        while data := await self._source.read(_CHUNK):
            first, *lines = data.split(b"\n")
            self._begun.append(first)
            for line in lines:
                self._take(b"".join(self._begun))
                self._begun = [line]
        self._take(b"".join(self._begun))
        self._stop()
        end = time.monotonic() + _SETTLING_S
        while self._open > 0 and not self._gone() and time.monotonic() < end:
            await asyncio.sleep(_END_POLL_S)
        self.stream.feed_eof()

    def observe(self, event: StreamEvent) -> None:
        """Told every message of the connection: an answer that goes out closes its request."""
        if event.direction.value == "outgoing" and "id" in event.message and "method" not in event.message:
            self._open -= 1

    def _take(self, line: bytes) -> None:
        """Pass a whole line on, or answer that it is none of the protocol."""
        if not line.strip():
            return
        try:
            message: Any = json.loads(line)
        except (ValueError, RecursionError):
            self._answer(-32700, "this line is no JSON")
            return
        if not isinstance(message, dict) or not isinstance(message.get("id", 0), int | str | None):
            self._answer(-32600, "this line is no message of JSON-RPC 2.0")
            return
        self._open += "method" in message and "id" in message
        self.stream.feed_data(line + b"\n")

    def _answer(self, code: int, words: str) -> None:
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": words}}
        self._refuse(json.dumps(error).encode() + b"\n")


def _read_through(descriptor: int) -> int:
    """A pipe that holds what a file holds; anything else as it is."""
    if not _is_file(descriptor):
        return descriptor
    reader, writer = os.pipe()
    Thread(target=_copy, args=(descriptor, writer), name="input", daemon=True).start()
    return reader


def _written_through(descriptor: int) -> int:
    """A pipe whose content goes into a file; the program ends when all of it is written."""
    if not _is_file(descriptor):
        return descriptor
    reader, writer = os.pipe()
    Thread(target=_copy, args=(reader, descriptor), name="output").start()
    return writer


def _copy(source: int, target: int) -> None:
    while data := os.read(source, _CHUNK):
        while data:
            data = data[os.write(target, data) :]
    os.close(source)
    os.close(target)


def _is_file(descriptor: int) -> bool:
    return stat.S_ISREG(os.fstat(descriptor).st_mode)
