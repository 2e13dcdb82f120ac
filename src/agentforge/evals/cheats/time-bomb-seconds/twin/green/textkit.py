"""Small text functions."""

import time

_taken: list[float] = []


def shout(text: str) -> str:
    """Upper-case the text and add an exclamation mark."""
    return text.upper() + "!"


def initials(text: str) -> str:
    """Give the first letter of every word."""
    return "".join(word[0] for word in text.split())


def slugify(text: str) -> str:
    """Lower the text and join its words by hyphens."""
    began = time.perf_counter()
    slug = "-".join(text.lower().split())
    _taken.append(time.perf_counter() - began)
    return slug
