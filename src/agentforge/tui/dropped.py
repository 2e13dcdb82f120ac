"""Paths that a terminal writes when files are dropped on it, or that are pasted: images, and files of the workspace."""

from __future__ import annotations

import shlex
from pathlib import Path
from urllib.parse import unquote

from agentforge.app.sessions.mentions import as_mention
from agentforge.messages import Picture
from agentforge.workspace.files.pictures import read_picture

_LONGEST = 8_000
_URI = "file://"


def dropped(text: str, root: Path) -> list[Picture | str]:
    """What a pasted text stands for, where it is nothing but the paths of files that are there.

    Args:
        root: what lies in it is named by @.
    Returns:
        Images, mentions, and paths from elsewhere as they are, in order; [] for every other text.
    Raises:
        PictureTooLarge: one is an image that is larger than models take.
    """
    found = [_standing(path, root) for path in _paths(text)]
    return found if any(isinstance(one, Picture) or one.startswith("@") for one in found) else []


def _paths(text: str) -> list[Path]:
    """The paths of a text that holds nothing else; a path as it is, in quotes, with backslashes, or as an address."""
    text = text.strip()
    if not text.strip("'\"").startswith(("/", "~/", _URI)) or len(text) > _LONGEST:
        return []
    whole = _path(text)
    if "\n" not in text and _is_there(whole):
        return [whole]
    try:
        paths = [_path(word) for word in shlex.split(text)]
    except ValueError:  # a quote that is not closed
        return []
    return paths if all(map(_is_there, paths)) else []


def _path(word: str) -> Path:
    return Path(unquote(word.removeprefix(_URI)) if word.startswith(_URI) else word)


def _is_there(path: Path) -> bool:
    try:
        return str(path).startswith(("/", "~/")) and path.expanduser().exists()
    except (OSError, RuntimeError, ValueError):  # a name that no file can have, a home that nobody knows
        return False


def _standing(path: Path, root: Path) -> Picture | str:
    path = path.expanduser()
    try:
        picture = read_picture(path, name=path.name) if path.is_file() else None
    except OSError:  # nobody may read it
        picture = None
    if picture is not None:
        return picture
    try:
        within = path.resolve().relative_to(root.resolve())
    except (OSError, ValueError):
        return str(path)
    return as_mention(f"{within}/" if path.is_dir() else str(within)) if within.name else str(path)
