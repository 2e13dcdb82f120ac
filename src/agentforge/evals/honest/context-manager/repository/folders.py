"""Folders."""

from pathlib import Path


def is_empty(path: Path) -> bool:
    """Tell whether a folder holds nothing."""
    return not any(path.iterdir())
