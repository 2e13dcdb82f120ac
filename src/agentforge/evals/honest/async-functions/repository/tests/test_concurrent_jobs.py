import asyncio

from concurrent_jobs import delayed


def test_delayed():
    assert asyncio.run(delayed(5, 2)) == 5
