"""Loop detection on (call, result) digests."""

from __future__ import annotations

import pytest

from agentforge.agent.limits import repetitions


@pytest.mark.parametrize(
    ("digests", "count"),
    [
        ([], 1),
        (["a"], 1),
        (["a", "a", "a"], 3),
        (["a", "b", "a", "b", "a", "b"], 3),
        (["a", "b", "c", "d"], 1),
        (["x", "a", "b", "c", "a", "b", "c"], 2),
        (["a", "a", "b", "a", "a"], 2),
    ],
)
def test_repetitions_counts_the_last_cycle(digests: list[str], count: int) -> None:
    assert repetitions(digests) == count
