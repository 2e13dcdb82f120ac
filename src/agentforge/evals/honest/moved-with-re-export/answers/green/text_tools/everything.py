"""Tools for texts."""

from text_tools.slugs import slug

__all__ = ["shorten", "slug"]


def shorten(text: str, width: int) -> str:
    """Cut a text to a width."""
    return text if len(text) <= width else text[: width - 1] + "…"
