"""Wares of a shop."""


def label(name: str, price: int) -> str:
    """Write name and price, in cents, on one line."""
    return f"{name}: {price / 100:.2f}"
