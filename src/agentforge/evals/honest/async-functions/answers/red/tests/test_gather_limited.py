import asyncio

from concurrent_jobs import delayed


def test_results_keep_the_order_of_the_jobs():
    from concurrent_jobs import gather_limited

    jobs = [lambda: delayed(1, 5), lambda: delayed(2, 1), lambda: delayed(3, 3)]
    assert asyncio.run(gather_limited(jobs, 2)) == [1, 2, 3]


def test_no_more_run_than_the_limit_says():
    from concurrent_jobs import gather_limited

    running = 0
    most = 0

    async def job():
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return most

    asyncio.run(gather_limited([job] * 5, 2))
    assert most == 2


def test_no_jobs():
    from concurrent_jobs import gather_limited

    assert asyncio.run(gather_limited([], 2)) == []
