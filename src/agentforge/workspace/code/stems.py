"""Words of identifiers and paths without their endings, so that the words of a request are found in code."""

from __future__ import annotations

import re
from functools import lru_cache

_SUFFIXES = (
    "izations",
    "ization",
    "ations",
    "ation",
    "ings",
    "ing",
    "ers",
    "ies",
    "ions",
    "ion",
    "ed",
    "er",
    "es",
    "s",
    "e",
    "y",
)
SHORTEST = 3
"""Letters of a stem at least."""
REMEMBERED = 8192
"""Names; enough for speed, small in memory."""
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
"""The words of a name: camel humps, and what stands between signs."""


@lru_cache(maxsize=REMEMBERED)
def words(identifier: str) -> tuple[str, ...]:
    """Split an identifier or a path at camel humps, underscores and signs into stems."""
    folder, sign, name = identifier.rpartition("/")
    if sign:
        return (*words(folder), *words(name))  # many files lie in one folder
    return tuple(stem(part.lower()) for part in PARTS.findall(identifier))


@lru_cache(maxsize=REMEMBERED)
def stem(word: str) -> str:
    """Cut the ending off an English word, so that parse, parser and parsing are one."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= SHORTEST:
            return _single_end(word[: -len(suffix)])
    return word


def _single_end(word: str) -> str:
    """`stopp` (of stopping) is `stop`."""
    return word[:-1] if len(word) > SHORTEST and word[-1] == word[-2] and word[-1] not in "aeioslz" else word
