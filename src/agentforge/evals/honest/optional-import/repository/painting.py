"""Texts for the terminal."""


def paint(text: str) -> str:
    """Give the text for the terminal."""
    return text + "!"
