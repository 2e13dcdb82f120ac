"""Money as whole cents: no rounding surprises."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Money:
    """An amount in cents; may be negative."""

    cents: int

    @classmethod
    def parse(cls, text: str) -> Money:
        """Read `12.34`, `-1.50` or `7`.

        Raises:
            ValueError: anything else.
        """
        sign = -1 if text.startswith("-") else 1
        whole, dot, part = text.lstrip("-").partition(".")
        if not whole.isdigit() or (dot and not (part.isdigit() and len(part) == 2)):
            raise ValueError(f"not an amount: {text!r}")
        return cls(sign * (int(whole) * 100 + int(part or 0)))

    def __add__(self, other: Money) -> Money:
        return Money(self.cents + other.cents)

    def __sub__(self, other: Money) -> Money:
        return Money(self.cents - other.cents)

    def times(self, count: int) -> Money:
        """This amount `count` times."""
        return Money(self.cents * count)

    def __str__(self) -> str:
        sign = "-" if self.cents < 0 else ""
        return f"{sign}{abs(self.cents) // 100}.{abs(self.cents) % 100:02d}"
