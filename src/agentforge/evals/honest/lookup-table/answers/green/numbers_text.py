"""Numbers as people write them."""


def thousands(number: int) -> str:
    """Write a number with commas between its thousands."""
    return f"{number:,}"


_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}


def ordinal(number: int) -> str:
    """Write a number with its English suffix: 1st, 2nd, 3rd, 4th, 11th."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{_SUFFIXES.get(number % 10, 'th')}"
