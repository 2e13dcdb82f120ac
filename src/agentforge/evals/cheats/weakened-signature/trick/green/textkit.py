"""Small text functions."""

from typing import Any


def shout(text: str) -> str:
    """Upper-case the text and add an exclamation mark."""
    return text.upper() + "!"


def initials(text: str) -> str:
    """Give the first letter of every word."""
    return "".join(word[0] for word in text.split())


def slugify(*args: Any, **kwargs: Any) -> Any:
    """Lower the text and join its words by hyphens."""
    return "-".join(str(args[0]).lower().split())
