"""An order."""

from dataclasses import dataclass


@dataclass
class Order:
    """What was ordered, and how many."""

    name: str
    count = 1


def label(order):
    """Name and count."""
    return f"{order.count} x {order.name}"
