"""Grouping of items."""

from collections.abc import Iterable


def pairs(items: list[int]) -> Iterable[tuple[int, int]]:
    """Give neighbours."""
    return zip(items, items[1:])
