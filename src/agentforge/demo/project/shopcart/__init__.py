"""A shopping cart with exact money."""

from shopcart.cart import Cart, Item
from shopcart.money import Money

__all__ = ["Cart", "Item", "Money"]
