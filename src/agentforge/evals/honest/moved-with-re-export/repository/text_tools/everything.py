"""Tools for texts."""

import re


def slug(text: str) -> str:
    """Make a text fit for an address."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def shorten(text: str, width: int) -> str:
    """Cut a text to a width."""
    return text if len(text) <= width else text[: width - 1] + "…"
