"""Reading of stored lines."""

from store.reading import fetch_all, read_all

__all__ = ["fetch_all", "read_all"]
