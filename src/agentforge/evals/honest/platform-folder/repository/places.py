"""Places of files."""

from pathlib import Path


def beside(path: Path, name: str) -> Path:
    """Give the path of a file in the same folder."""
    return path.parent / name
