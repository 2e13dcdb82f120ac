"""Numbers about lists of numbers."""


def mean(values: list[float]) -> float:
    """Give the arithmetic mean."""
    return sum(values) / len(values)


def median(values: list[float]) -> float:
    """Give the middle value; of an even number of values the mean of the two in the middle."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def pages(items: int, size: int) -> int:
    """Number of pages that a list of `items` needs, `size` on each."""
    return items // size + 1


def spread(values: list[float]) -> float:
    """Give the difference of the largest and the smallest value."""
    largest = values[0]
    for value in values:
        if value > largest:
            largest = value
    smallest = values[0]
    for value in values:
        if value < smallest:
            smallest = value
    return largest - smallest
