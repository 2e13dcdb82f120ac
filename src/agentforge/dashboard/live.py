"""Tells open pages which tasks changed, as server-sent events; the pages fetch themselves again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from agentforge.dashboard.board import board_of
from agentforge.errors import ConfigError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from agentforge.dashboard.board import Board
    from agentforge.dashboard.ground import Signature

_LOOK_S = 0.5
_BEAT_LOOKS = 20


async def live(request: Request) -> Response:
    """Stream the names of tasks that changed, until the page is closed."""
    from starlette.responses import StreamingResponse

    return StreamingResponse(_events(board_of(request)), media_type="text/event-stream")


async def _events(board: Board) -> AsyncIterator[bytes]:
    """One event for each change; a beat now and then, with which a page finds out that a process died."""
    import asyncio

    from starlette.concurrency import run_in_threadpool

    yield b"retry: 1500\n\n"
    before = await run_in_threadpool(_signature, board)
    looks = 0
    while not board.stopping():
        await asyncio.sleep(_LOOK_S)
        looks += 1
        now = await run_in_threadpool(_signature, board)
        if now != before:
            yield f"data: {json.dumps(changed_tasks(before, now))}\n\n".encode()
            before = now
        elif looks % _BEAT_LOOKS == 0:
            yield b"event: beat\ndata: {}\n\n"


def _signature(board: Board) -> Signature:
    """What there is now; nothing while the registry is broken, which every page says."""
    try:
        return board.ground.signature()
    except ConfigError:
        return ()


def changed_tasks(before: Signature, now: Signature) -> list[str]:
    """Names of the tasks that differ between two looks."""
    folders = {PurePath(path.removesuffix("/lease")).name for path, _, _ in frozenset(before) ^ frozenset(now)}
    return sorted(folders)
