"""Countries."""


def is_code(text: str) -> bool:
    """Tell whether a text looks like the code of a country."""
    return len(text) == 2 and text.isalpha()
