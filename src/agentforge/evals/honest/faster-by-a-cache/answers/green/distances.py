"""Distances between words."""

from functools import lru_cache


@lru_cache(maxsize=10_000)
def distance(one, other):
    """Give the least number of letters to insert, remove or replace."""
    if not one or not other:
        return len(one) + len(other)
    if one[0] == other[0]:
        return distance(one[1:], other[1:])
    return 1 + min(distance(one[1:], other), distance(one, other[1:]), distance(one[1:], other[1:]))
