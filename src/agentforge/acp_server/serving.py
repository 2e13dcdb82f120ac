"""Serving one editor over standard input and output, which carry the protocol and nothing else."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from agentforge.acp_server.streams import BUFFER_BYTES, Intake, claimed
from agentforge.errors import ToolchainError
from agentforge.installation import command_for

if TYPE_CHECKING:
    from agentforge.acp_server.agent import EditorAgent, OpenPlace

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
