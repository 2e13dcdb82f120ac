"""Texts that are fit for an address."""

import re


def slug(text: str) -> str:
    """Make a text fit for an address."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
