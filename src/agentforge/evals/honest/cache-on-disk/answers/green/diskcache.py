"""Texts that are kept in files."""

from collections.abc import Callable
from pathlib import Path


def keys(folder: Path) -> list[str]:
    """Name what is kept in a folder."""
    return sorted(path.stem for path in folder.glob("*.txt"))


def cached(folder: Path, key: str, make: Callable[[], str]) -> str:
    """Give the kept text of a key; where there is none it is made and kept."""
    path = folder / f"{key}.txt"
    if path.exists():
        return path.read_text(encoding="utf-8")
    text = make()
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return text
