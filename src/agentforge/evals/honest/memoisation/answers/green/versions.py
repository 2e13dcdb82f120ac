"""Version numbers."""

from functools import lru_cache


@lru_cache(maxsize=256)
def parse_version(text: str) -> tuple[int, ...]:
    """Split a dotted version into its numbers."""
    return tuple(int(part) for part in text.split("."))
