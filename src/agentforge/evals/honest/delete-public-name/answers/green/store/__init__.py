"""Reading of stored lines."""

from store.reading import read_all

__all__ = ["read_all"]
