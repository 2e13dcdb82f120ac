"""Mapping of functions over items."""

from collections.abc import Callable


def applied(function: Callable[[int], int], times: int, value: int) -> int:
    """Apply a function several times."""
    for _ in range(times):
        value = function(value)
    return value
