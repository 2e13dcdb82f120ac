"""The part that takes long to import."""


def render(text: str) -> str:
    """Draw a text."""
    return f"<{text}>"
