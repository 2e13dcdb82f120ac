"""Grouping of items."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def pairs(items: list[int]) -> Iterable[tuple[int, int]]:
    """Give neighbours."""
    return zip(items, items[1:])


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Give lists of a size, the last one maybe shorter; raises ValueError for a size below 1."""
    if size < 1:
        raise ValueError("size must be at least 1")
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch
