"""A case in one file: what its `case.yaml` says, and the files of its folder as texts under `files`."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from agentforge.errors import ConfigError
from agentforge.evals.case import read_mapping

FILES = "files"


@cache
def unpacked(path: Path) -> Path:
    """Write the files of a case into a folder of this process, which ends with it.

    Returns:
        the folder: it holds `repository/`, `answers/` and what else the case brings.
    Raises:
        ConfigError: `files` is no mapping of relative paths to texts.
    Side effects: a folder for temporary files.
    """
    files = read_mapping(path).get(FILES)
    if not isinstance(files, Mapping) or not files:
        raise ConfigError(
            f"{path}: `files` is no mapping", hint="write `files:` and below it a path with its text each"
        )
    folder = Path(tempfile.mkdtemp(prefix="agentforge-case-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, text in files.items():
        inside = PurePosixPath(str(name))
        if inside.is_absolute() or ".." in inside.parts or not isinstance(text, str):
            raise ConfigError(f"{path}: {name} is no relative path with a text", hint="write `repository/a.py: |`")
        place = folder / inside
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return folder
