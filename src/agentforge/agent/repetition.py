"""Loop detection on (call, result) digests: the same call with the same result is repetition, with a new result it is work."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST_CYCLE = 5
WARN_AFTER = 3
STOP_AFTER = 5


def repetitions(digests: Sequence[str]) -> int:
    """How often the last cycle (1 to 5 calls long) was gone through without a break; 1 = no repetition."""
    best = 1
    for length in range(1, LONGEST_CYCLE + 1):
        cycle = digests[-length:]
        if len(cycle) < length:
            break
        count = 1
        while list(digests[-length * (count + 1) : -length * count]) == list(cycle):
            count += 1
        best = max(best, count)
    return best
