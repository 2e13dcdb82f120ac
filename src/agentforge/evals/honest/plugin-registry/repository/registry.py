"""Commands by name."""


def is_name(text: str) -> bool:
    """Tell whether a text can be the name of a command."""
    return text.isidentifier()
