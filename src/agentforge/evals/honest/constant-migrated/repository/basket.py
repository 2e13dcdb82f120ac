"""Baskets."""

MAX_ITEMS = 10


def may_add(count: int) -> bool:
    """Tell whether a basket with so many items takes another one."""
    return count < MAX_ITEMS
