"""Paging of results."""


def pages(total: int, size: int) -> int:
    """Count the pages."""
    return total // size


def offset(page: int, size: int) -> int:
    """Give the number of the first row of a page; pages count from 1."""
    return (page - 1) * size
