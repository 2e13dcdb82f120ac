"""Jobs that wait a lot."""

import asyncio


async def delayed(value: int, turns: int) -> int:
    """Give a value after some turns of the loop."""
    for _ in range(turns):
        await asyncio.sleep(0)
    return value
