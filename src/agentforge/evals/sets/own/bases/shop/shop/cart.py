"""What a customer wants to buy."""

from shop.prices import with_tax


class Cart:
    """Articles with their price in cents and how many of them."""

    def __init__(self) -> None:
        self.lines: dict[str, tuple[int, int]] = {}

    def add(self, name: str, cents: int, count: int = 1) -> None:
        """Add pieces of an article."""
        _, before = self.lines.get(name, (cents, 0))
        self.lines[name] = (cents, before + count)

    def remove(self, name: str) -> None:
        """Remove an article."""
        del self.lines[name]

    def net(self) -> int:
        """Sum without tax, in cents."""
        return sum(cents * count for cents, count in self.lines.values())

    def total(self) -> int:
        """Sum with tax, in cents."""
        return with_tax(self.net())
