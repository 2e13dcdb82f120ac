"""Accounts in whole cents."""


class Ledger:
    """Entries of one account, oldest first."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, int]] = []

    def add(self, label: str, cents: int) -> None:
        """Add an entry; money that leaves the account is negative."""
        self.entries.append((label, cents))

    def balance(self) -> int:
        """Sum all entries, in cents."""
        total = 0
        for _, cents in self.entries:
            total += abs(cents)
        return total

    def statement(self) -> list[str]:
        """One line for each entry: label and amount."""
        return [f"{label}: {cents / 100:.2f}" for label, cents in self.entries]


def parse_amount(text: str) -> int:
    """Read "12.34" as 1234 cents."""
    whole, _, part = text.partition(".")
    return int(whole) * 100 + int(part or 0)


def euros(cents: int) -> str:
    """Write cents as an amount: 1234 is 12.34 EUR."""
    return f"{cents / 100:.2f} EUR"
