"""Folders."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def is_empty(path: Path) -> bool:
    """Tell whether a folder holds nothing."""
    return not any(path.iterdir())


@contextmanager
def working_directory(path: str | Path) -> Iterator[Path]:
    """Work in a folder for a while."""
    before = Path.cwd()
    os.chdir(path)
    try:
        yield Path(path)
    finally:
        os.chdir(before)
