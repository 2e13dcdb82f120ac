"""A basket of prices."""


class Basket:
    """Prices in cents."""

    def __init__(self) -> None:
        self._prices: list[int] = []

    def add(self, price: int) -> None:
        """Put one price into the basket."""
        self._prices.append(price)

    def __bool__(self) -> bool:
        return bool(self._prices)

    def total(self) -> int:
        """Add up all prices."""
        return sum(self._prices)
