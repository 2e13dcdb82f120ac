"""Where a command works: the folder, the user's environment, the settings that hold there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from agentforge.config.dotenv import merged_environment
from agentforge.config.settings import Settings, load
from agentforge.errors import UsageError
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What every use case needs to know about its surroundings."""

    cwd: Path
    environ: Mapping[str, str]
    settings: Settings


def open_place(cwd: str | None, *, flags: Mapping[str, object] | None = None) -> Place:
    """Read settings and environment for work in `cwd`.

    Args:
        cwd: a folder; None = the current one.
        flags: settings given on the command line, dotted key -> value.
    Raises:
        UsageError: no such folder.
        ConfigError: settings that are wrong.
    """
    folder = folder_of(cwd)
    environ = merged_environment(os.environ)
    return Place(cwd=folder, environ=environ, settings=load(folder, environ, flags=flags))


def folder_of(cwd: str | None) -> Path:
    """Return the folder as an absolute path.

    Raises:
        UsageError: no such folder.
    """
    try:
        folder = Path(cwd).expanduser().resolve() if cwd else Path.cwd()
    except FileNotFoundError as exc:
        raise UsageError("the current folder was deleted", hint="change into another one") from exc
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", hint="pass a folder to --cwd")
    return folder
