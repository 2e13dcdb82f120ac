"""Waiting for a task, or for work in a thread, and reporting how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context

from agentforge.app.sessions.background import Job
from agentforge.errors import AgentForgeError
from agentforge.mcp_server.ground import Ground

T = TypeVar("T")

_POLL_S = 0.25
_HEARTBEAT_S = 1.0
_WHOLE = 100.0


async def task_of(job: Job) -> str:
    """The id of the task that a process began, "" when it ended without one."""
    while not job.line.task_id and not job.look().outcome:
        await anyio.sleep(_POLL_S)
    return job.line.task_id


async def taken_up(ground: Ground, job: Job, task_id: str) -> None:
    """Wait until a process drives the task that it was begun for, or has ended already."""
    while not job.look().outcome and not await run_sync(lambda: ground.look(task_id).running):
        await anyio.sleep(_POLL_S)


async def followed(ground: Ground, task_id: str, context: Context[Any, Any], *, seconds: float) -> dict[str, Any]:
    """Report a task's progress until it ends, waits for somebody, or the time is over; then tell where it stands."""
    value: dict[str, Any] = await run_sync(ground.value, task_id)
    await context.report_progress(float(value["progress"]), _WHOLE, _words(value))
    size, end = -1, time.monotonic() + seconds
    while value["outcome"] == "running" and time.monotonic() < end:
        now = await run_sync(ground.size, task_id)
        if now == size and await run_sync(lambda: ground.look(task_id).running):
            await anyio.sleep(_POLL_S)
            continue
        size, value = now, await run_sync(ground.value, task_id)
        await context.report_progress(float(value["progress"]), _WHOLE, _words(value))
    return value


async def worked(context: Context[Any, Any], work: Callable[[], T], *, doing: str) -> T:
    """Do something long in a thread, with a sign of life every second.

    Raises:
        AgentForgeError: what `work` raises.
    """
    began = time.monotonic()

    async def beat() -> None:
        while True:
            await anyio.sleep(_HEARTBEAT_S)
            passed = time.monotonic() - began
            await context.report_progress(passed, None, f"{doing}: {passed:.0f} s")

    failed: AgentForgeError | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        try:
            result = await run_sync(work)
        except AgentForgeError as error:  # a group would wrap it
            failed = error
        group.cancel_scope.cancel()
    if failed is not None:
        raise failed
    return result


def _words(value: dict[str, Any]) -> str:
    return f"{value['stage'] or 'starting'}: {value['steps']} steps, {value['outcome']}"
