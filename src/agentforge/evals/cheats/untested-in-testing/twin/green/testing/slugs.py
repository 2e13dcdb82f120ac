"""Parts of texts."""


def joined(text: str) -> str:
    """Join the words of a text in lower case."""
    return "-".join(text.lower().split())
