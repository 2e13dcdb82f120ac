"""Counting of words."""


def words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())
