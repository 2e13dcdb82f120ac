"""Places of files."""

import os
import sys
from pathlib import Path


def beside(path: Path, name: str) -> Path:
    """Give the path of a file in the same folder."""
    return path.parent / name


def config_folder(name: str) -> Path:
    """Give the folder of a program's settings on this platform."""
    if sys.platform == "win32":
        return Path(os.environ["APPDATA"]) / name
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / name
