"""How the files of a folder look from outside: enough to see that one was touched, without reading or following anything."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

Look = tuple[int, ...]
"""Mode of a folder (all of it where one looks closely); mode, size, times of change (ns) and inode of everything else."""
Looks = dict[str, Look]
"""By path relative to the folder, `/` between the parts; names that are not UTF-8 hold surrogates."""


def scan(root: Path, *, without: Collection[str] = (), closely: bool = False) -> Looks:
    """Look at everything below a folder but its own `.git`. The time of a change cannot be set by who makes it.

    Args:
        without: folders, as the keys of the result name them, that are not entered.
        closely: a folder has the look of a file, which changes with what is put into it; a file's changes when it is read, too.
    Side effects: a folder that cannot be entered is opened to its owner; its look is the one that it had.
    """
    looks: Looks = {}
    pending = [("", str(root))]
    while pending:
        prefix, folder = pending.pop()
        for entry in _entries(folder):
            name = prefix + entry.name
            info = entry.stat(follow_symlinks=False)
            whole = (info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
            if not stat.S_ISDIR(info.st_mode):
                looks[name] = (*whole, info.st_atime_ns) if closely else whole
            elif name != ".git":
                looks[name] = whole if closely else (info.st_mode,)
                if name not in without:
                    pending.append((name + "/", entry.path))
    looks.pop(".git", None)
    return looks


def is_folder(look: Look | None) -> bool:
    """Whether this is how a folder looks; nothing is no folder."""
    return look is not None and stat.S_ISDIR(look[0])


def is_link(look: Look) -> bool:
    """Whether this is how a symbolic link looks."""
    return stat.S_ISLNK(look[0])


def is_regular(look: Look | None) -> bool:
    """Whether this is how a file with content looks."""
    return look is not None and stat.S_ISREG(look[0])


def permissions(look: Look) -> int:
    """The permission bits."""
    return stat.S_IMODE(look[0])


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        return os.scandir(folder)
    except PermissionError:
        Path(folder).chmod(stat.S_IRWXU)
        return os.scandir(folder)
