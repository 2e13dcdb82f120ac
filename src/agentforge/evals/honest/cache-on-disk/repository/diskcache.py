"""Texts that are kept in files."""

from pathlib import Path


def keys(folder: Path) -> list[str]:
    """Name what is kept in a folder."""
    return sorted(path.stem for path in folder.glob("*.txt"))
