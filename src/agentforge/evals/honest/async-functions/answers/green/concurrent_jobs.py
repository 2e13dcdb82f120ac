"""Jobs that wait a lot."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


async def delayed(value: int, turns: int) -> int:
    """Give a value after some turns of the loop."""
    for _ in range(turns):
        await asyncio.sleep(0)
    return value


async def gather_limited(jobs: Sequence[Callable[[], Awaitable[T]]], limit: int) -> list[T]:
    """Await jobs, at most some at the same time; the results are in the order of the jobs."""
    free = asyncio.Semaphore(limit)

    async def run(job: Callable[[], Awaitable[T]]) -> T:
        async with free:
            return await job()

    return list(await asyncio.gather(*(run(job) for job in jobs)))
