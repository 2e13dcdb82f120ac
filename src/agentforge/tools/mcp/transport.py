"""The way to a server over HTTP: its headers, its time limits, answers of bounded size, and a login where it wants one.

The pipe to a stdio server: lines of bounded length, a bounded number of them, and an end of the whole process group.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from agentforge.tools.mcp.oauth import Login
from agentforge.tools.mcp.spec import ServerSpec
from agentforge.workspace.processes.longlived import Walls

_CONNECT_S = 20.0
_MOST_BYTES = 16 * 1024 * 1024


class Answers:
    """What a server answered last, as far as it explains why it cannot be used."""

    def __init__(self, spec: ServerSpec) -> None:
        self.over = asyncio.Event()
        self._spec = spec
        self._said = ""

    async def heard(self, response: Any) -> None:
        """Remember an answer that refuses, until a better one comes."""
        status = response.status_code
        hint = (
            f"; log in: agentforge mcp login {self._spec.name}, or /mcp login {self._spec.name}"
            if status == 401
            else ""
        )
        to = f" to {response.headers.get('location', '')[:200]}" if 300 <= status < 400 else ""
        self._said = f"HTTP {status} {response.reason_phrase}{to}{hint}" if status >= 300 else ""

    def reason(self) -> str:
        """The refusal, "" when there was none."""
        return self._said


@asynccontextmanager
async def http_streams(spec: ServerSpec, *, login: Login, answers: Answers) -> AsyncIterator[Any]:
    """Give the two streams of messages of a server at a URL.

    Redirects stay on the server's own origin, so that headers and tokens reach nobody else.

    Args:
        login: keeps the tokens of a login, or makes one now.
    """
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    timeout = httpx2.Timeout(_CONNECT_S, read=spec.call_s)
    auth = await login.provider() if login.wanted else None
    hooks: Any = {"response": [answers.heard, _bounded]}
    try:
        async with (
            httpx2.AsyncClient(headers=dict(spec.headers), timeout=timeout, auth=auth, event_hooks=hooks) as client,
            streamable_http_client(spec.url, http_client=client) as streams,
        ):
            yield streams
    finally:
        await login.close()


async def _bounded(response: Any) -> None:
    """Give up on an answer that does not end; a stream of events is bounded event by event."""
    if "text/event-stream" not in response.headers.get("content-type", ""):
        response.stream = _bound(response.stream)


def _bound(stream: Any) -> Any:
    """A body that may not grow beyond all bounds."""
    import httpx2

    class _Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in stream:
                size += len(chunk)
                if size > _MOST_BYTES:
                    raise httpx2.ReadError(f"the answer has more than {_MOST_BYTES:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    return _Bounded()


_LONGEST_LINE = 8 * 1024 * 1024
_MOST_UNASKED = 5000
_MOST_NOISE = 200
_STDERR_LINES = 20
_SAID = 600
_END_S = 0.5
_NOT_FOUND = 127
"""The exit code of who was to start a program that is not there."""


class Pipe:
    """What is known of a server's process, also after it has ended.

    Args:
        program: that is started, for people.
    Attributes:
        complaint: why the pipe was closed from this side, "" when it was not.
        over: set when nothing more comes from the server.
        returncode: with which it ended; None = it runs.
        killed: it was ended from here, so that its exit code says nothing.
    """

    def __init__(self, *, program: str = "the program") -> None:
        self._program = program
        self.over = asyncio.Event()
        self.complaint = ""
        self.returncode: int | None = None
        self.killed = False
        self._said: deque[str] = deque(maxlen=_STDERR_LINES)
        self._unasked = 0
        self._noise = 0

    def reason(self) -> str:
        """Why there is nobody at the other end, in words: what it said last is in them."""
        if self.returncode == _NOT_FOUND:
            return f"there is no program {self._program!r} here: install it, or correct the server's command"
        ended = "" if self.returncode is None or self.killed else f"ended with exit code {self.returncode}"
        lines = [line.strip() for line in self._said if line.strip()]
        while len(lines) > 1 and len(" | ".join(lines)) > _SAID:
            del lines[0]
        said = " | ".join(lines)[-_SAID:]
        return "; ".join(part for part in (self.complaint, ended, said) if part)

    def asked(self) -> None:
        """A message was sent: what comes now may be its answer."""
        self._unasked = 0

    def takes(self, line: bytes) -> bool:
        """Whether a line is a message; counts those that nobody asked for.

        Raises:
            ConnectionError: the server writes without end, or what is no message.
        """
        self._unasked += 1
        if self._unasked > _MOST_UNASKED:
            raise ConnectionError(f"it sent {_MOST_UNASKED} messages that nobody asked for")
        if line.lstrip().startswith(b"{"):
            return True
        self._noise += bool(line.strip())
        if self._noise > _MOST_NOISE:
            raise ConnectionError("it writes something else than messages to its standard output")
        return False

    def heard(self, line: bytes) -> None:
        """Keep what it says on its standard error."""
        self._said.append(line.decode("utf-8", "replace").rstrip()[:400])


@asynccontextmanager
async def stdio_pipe(walls: Walls, *, env: Mapping[str, str], cwd: Path, pipe: Pipe) -> AsyncIterator[Any]:
    """Start a server and give the two streams of its messages; it has ended when the context ends.

    Args:
        walls: what starts it, and stands around it.
    Raises:
        OSError: it cannot be started.
    """
    with walls() as start:
        process = await asyncio.create_subprocess_exec(
            *start.argv, env=dict(env), cwd=cwd, start_new_session=True, limit=_LONGEST_LINE, pass_fds=start.inherits,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            await asyncio.to_thread(start.started, process.pid)
            async with _streams(process, pipe) as both:
                yield both
        finally:
            await _end(process, pipe)


@asynccontextmanager
async def _streams(process: asyncio.subprocess.Process, pipe: Pipe) -> AsyncIterator[Any]:
    """The two streams of a server's messages; the server has ended when the context ends."""
    import anyio

    arriving, incoming = anyio.create_memory_object_stream[Any](0)
    outgoing, leaving = anyio.create_memory_object_stream[Any](0)
    tasks = [
        asyncio.create_task(work)
        for work in (_read(process, arriving, pipe), _write(process, leaving, pipe), _listen(process, pipe))
    ]
    try:
        yield incoming, outgoing
    finally:
        for task in tasks[:2]:
            task.cancel()
        await _end(process, pipe)
        tasks[2].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (arriving, incoming, outgoing, leaving):
            stream.close()


async def _read(process: asyncio.subprocess.Process, arriving: Any, pipe: Pipe) -> None:
    import anyio
    import mcp_types
    from mcp.shared.message import SessionMessage

    assert process.stdout is not None
    async with arriving:
        try:
            while line := await process.stdout.readline():
                if not pipe.takes(line):
                    continue
                try:
                    message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError as exc:
                    await arriving.send(exc)
                    continue
                await arriving.send(SessionMessage(message))
        except ValueError:  # the line is longer than the limit of the stream
            pipe.complaint = f"it sent a message of more than {_LONGEST_LINE:,} bytes"
        except (ConnectionError, anyio.BrokenResourceError, anyio.ClosedResourceError) as exc:
            pipe.complaint = pipe.complaint or str(exc)
        finally:
            with suppress(TimeoutError):
                pipe.returncode = await asyncio.wait_for(process.wait(), _END_S / 10)
            pipe.over.set()


async def _write(process: asyncio.subprocess.Process, leaving: Any, pipe: Pipe) -> None:
    assert process.stdin is not None
    async with leaving:
        async for message in leaving:
            pipe.asked()
            data = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                process.stdin.write(data.encode() + b"\n")
                await process.stdin.drain()
            except (OSError, RuntimeError):  # it has gone; the reader notices and says so
                return


async def _listen(process: asyncio.subprocess.Process, pipe: Pipe) -> None:
    assert process.stderr is not None
    while chunk := await process.stderr.read(4096):
        for line in chunk.splitlines():
            pipe.heard(line)


async def _end(process: asyncio.subprocess.Process, pipe: Pipe) -> None:
    """Close its input, then SIGTERM, then SIGKILL to the whole group; every wait is bounded."""
    assert process.stdin is not None
    with suppress(OSError, RuntimeError):
        process.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            pipe.killed = True
            _kill(process.pid, number)
        with suppress(TimeoutError):
            pipe.returncode = await asyncio.wait_for(process.wait(), _END_S)
            break
    _kill(process.pid, signal.SIGKILL)  # what it left behind in its group
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def _kill(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
