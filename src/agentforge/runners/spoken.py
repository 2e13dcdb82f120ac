"""Whether request and specification speak of something: in sentences, or in the names that they declare."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z]+(?:_[A-Za-z0-9]+)+|[A-Za-z]*[a-z][A-Z][A-Za-z]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def with_parts_of_names(told: str) -> str:
    """Add the words that names are made of: `is_weekend` and `isWeekend` speak of a weekend."""
    parts = [" ".join(_PART.findall(name)) for name in _NAME.findall(told)]
    return "\n".join([told, *dict.fromkeys(parts)])
