"""Releases."""

import re

_VERSION = re.compile(r"\d(?:\.\d)+")


def find_version(text: str) -> str | None:
    """Give the first dotted version of a text, None when there is none."""
    found = _VERSION.search(text)
    return found.group() if found else None
