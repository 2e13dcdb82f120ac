"""Mapping of functions over items."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def applied(function: Callable[[int], int], times: int, value: int) -> int:
    """Apply a function several times."""
    for _ in range(times):
        value = function(value)
    return value


def threaded_map(function: Callable[[T], R], items: Iterable[T], workers: int = 4) -> list[R]:
    """Map a function over items on several threads; the results are in the order of the items."""
    with ThreadPoolExecutor(max_workers=workers) as pool:
        return list(pool.map(function, items))
