"""Serving one editor over standard input and output, which carry the protocol and nothing else."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from typing import TYPE_CHECKING

from agentforge.errors import ToolchainError

if TYPE_CHECKING:
    from agentforge.acp_server.agent import OpenPlace

_BUFFER_BYTES = 64 * 1024 * 1024


def serve(open_place: OpenPlace, *, model: str | None, approval: str) -> None:
    """Serve until standard input ends.

    Raises:
        ToolchainError: the extra is not installed.
    Side effects: what anybody prints meanwhile goes to standard error; children read nothing.
    """
    try:
        from agentforge.acp_server.agent import EditorAgent
    except ImportError as exc:
        hint = "install agentforge-pipeline[acp]"
        raise ToolchainError(f"the ACP server cannot run: {exc.name} is missing", hint=hint) from exc
    logging.getLogger().setLevel(logging.CRITICAL)
    reader, writer = _claimed()
    asyncio.run(_served(EditorAgent(open_place, model=model, approval=approval), reader, writer))


def _claimed() -> tuple[int, int]:
    """Take standard input and output away from everybody else."""
    sys.stdout.flush()
    reader, writer = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return reader, writer


async def _served(agent: object, reader: int, writer: int) -> None:
    import acp

    loop = asyncio.get_running_loop()
    stream = asyncio.StreamReader(limit=_BUFFER_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(reader, "rb", buffering=0))
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(writer, "wb", buffering=0)
    )
    out = asyncio.StreamWriter(transport, protocol, None, loop)
    try:
        await acp.run_agent(agent, out, stream, use_unstable_protocol=True)  # type: ignore[arg-type] # has the methods of acp.Agent
    finally:
        await agent.close()  # type: ignore[attr-defined] # an EditorAgent
