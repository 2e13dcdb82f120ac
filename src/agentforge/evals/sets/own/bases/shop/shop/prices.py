"""Prices in cents."""

TAX_PERCENT = 20


def with_tax(cents: int) -> int:
    """Add the tax, rounded half up."""
    return (cents * (100 + TAX_PERCENT) + 50) // 100


def discounted(cents: int, percent: int) -> int:
    """Take a percentage off, rounded down."""
    return cents * (100 - percent) // 100
