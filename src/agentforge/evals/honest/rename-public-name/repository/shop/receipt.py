"""Receipts of baskets."""

from shop.basket import Basket


def receipt(basket: Basket) -> str:
    """Write what is to be paid."""
    return f"to pay: {basket.sum() / 100:.2f}"
