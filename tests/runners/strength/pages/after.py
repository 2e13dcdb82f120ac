"""After the change."""


def page(items, number, size=3):
    """The page of that number (from 1), with the number of the next page or None."""
    if number < 1:
        raise ValueError("pages count from 1")
    start = (number - 1) * size
    part = items[start : start + size]
    following = number + 1 if start + size < len(items) else None
    return part, following
