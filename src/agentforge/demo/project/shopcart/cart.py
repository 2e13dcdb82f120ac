"""The cart: items with quantities, totals, a receipt."""

from __future__ import annotations

from dataclasses import dataclass

from shopcart.money import Money


@dataclass(frozen=True)
class Item:
    """Something that can be bought."""

    name: str
    price: Money


class Cart:
    """Items with quantities, in the order in which they were added."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[Item, int]] = {}

    def add(self, item: Item, quantity: int = 1) -> None:
        """Put an item in; the same name again adds to its quantity.

        Raises:
            ValueError: the quantity is not positive.
        """
        if quantity < 1:
            raise ValueError("quantity must be at least 1")
        _, before = self._lines.get(item.name, (item, 0))
        self._lines[item.name] = (item, before + quantity)

    def remove(self, name: str) -> None:
        """Take an item out, all of it.

        Raises:
            KeyError: it is not in the cart.
        """
        del self._lines[name]

    def total(self) -> Money:
        """What all items cost together."""
        amount = Money(0)
        for item, quantity in self._lines.values():
            amount += item.price.times(quantity)
        return amount

    def receipt(self) -> str:
        """One line per item and the total."""
        lines = [f"{quantity} x {item.name} {item.price.times(quantity)}" for item, quantity in self._lines.values()]
        return "\n".join([*lines, f"total {self.total()}"])
