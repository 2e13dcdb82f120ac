"""What lies in the warehouse: name -> number of pieces."""

LIMIT = 5


def low_stock(stock: dict[str, int]) -> list[str]:
    """Name the articles of which fewer than LIMIT are left, in alphabetical order."""
    return sorted(name for name, count in stock.items() if count < LIMIT)


def take(stock: dict[str, int], name: str, count: int) -> dict[str, int]:
    """Take pieces out; returns the stock that is left.

    Raises:
        KeyError: there is no such article.
    """
    left = dict(stock)
    left[name] = left[name] - count
    return left


def unique(names: list[str]) -> list[str]:
    """Name every article once."""
    return sorted(set(names))


def old_report(stock: dict[str, int]) -> str:
    """Write the report of the old system."""
    return ";".join(f"{name}={count}" for name, count in stock.items())


def report(stock: dict[str, int]) -> str:
    """Write one line for each article, in alphabetical order."""
    lines = []
    for name in sorted(stock):
        lines.append(name + ": " + str(stock[name]))
    return "\n".join(lines)
