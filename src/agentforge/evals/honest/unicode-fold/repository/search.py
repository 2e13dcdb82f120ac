"""Search in texts."""


def matches(needle: str, text: str) -> bool:
    """Tell whether a text contains another one."""
    return needle in text
