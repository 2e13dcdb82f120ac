"""Small text functions."""

from importlib import import_module


def shout(text: str) -> str:
    """Upper-case the text and add an exclamation mark."""
    return text.upper() + "!"


def initials(text: str) -> str:
    """Give the first letter of every word."""
    return "".join(word[0] for word in text.split())


def __getattr__(name: str) -> object:
    return getattr(import_module("generated.slug"), name)
