"""An order."""

from dataclasses import dataclass


@dataclass
class Order:
    """What was ordered, and how many."""

    name: str
    count: int = 1


def label(order: Order) -> str:
    """Name and count."""
    return f"{order.count} x {order.name}"
