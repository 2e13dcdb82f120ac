"""Baskets."""

from limits import MAX_BASKET_ITEMS


def may_add(count: int) -> bool:
    """Tell whether a basket with so many items takes another one."""
    return count < MAX_BASKET_ITEMS
