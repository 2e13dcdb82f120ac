"""Where a command works: the folder, the user's environment, the settings that hold there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from agentforge.config.dotenv import merged_environment
from agentforge.config.paths import project_top
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
    environ = merged_environment(os.environ, cwd=folder)
    return Place(cwd=folder, environ=environ, settings=load(folder, environ, flags=flags))


def open_working_place(cwd: str | None) -> Place:
    """Like `open_place`, for a conversation: without `cwd` the setting of that name says where it happens.

    A project's setting leads to a folder of this project only.
    Raises:
        UsageError: no such folder, or one outside of the project that names it.
        ConfigError: settings that are wrong.
    """
    place = open_place(cwd)
    wanted = place.settings.text("cwd")
    if cwd or not wanted:
        return place
    base = _base_of(place, wanted)
    folder = folder_of(str(base / Path(wanted).expanduser()))
    return place if folder == place.cwd else open_place(str(folder))


def _base_of(place: Place, wanted: str) -> Path:
    """What a relative `cwd` is relative to: the project whose settings say it, else the current folder."""
    named = next(layer for layer in reversed(place.settings.layers) if "cwd" in layer.values)
    top = project_top(place.cwd, place.environ) if named.project else None
    if top is None:
        return place.cwd
    if not (top / wanted).resolve().is_relative_to(top.resolve()):
        raise UsageError(f"{named.place(('cwd',))}: cwd {wanted!r} leads out of the project", hint="pass --cwd")
    return top


def folder_of(cwd: str | None, *, hint: str = "pass a folder to --cwd") -> Path:
    """Return the folder as an absolute path.

    Raises:
        UsageError: no such folder.
    """
    try:
        folder = Path(cwd).expanduser().resolve() if cwd else Path.cwd()
    except FileNotFoundError as exc:
        raise UsageError("the current folder was deleted", hint="change into another one") from exc
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", hint=hint)
    return folder
