"""Search in texts."""

import unicodedata


def fold(text: str) -> str:
    """Remove accents and fold case, for comparison."""
    letters = unicodedata.normalize("NFD", text)
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()


def matches(needle: str, text: str) -> bool:
    """Tell whether a text contains another one, whatever their accents and case."""
    return fold(needle) in fold(text)
