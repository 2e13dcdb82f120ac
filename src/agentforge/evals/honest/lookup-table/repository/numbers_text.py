"""Numbers as people write them."""


def thousands(number: int) -> str:
    """Write a number with commas between its thousands."""
    return f"{number:,}"
