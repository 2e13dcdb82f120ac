"""The files of a run as plain bytes by path, wherever they come from: a folder, a bundle, a test that tampers with them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from agentforge.errors import IntegrityError

Files = Mapping[str, bytes]


class FolderFiles(Mapping[str, bytes]):
    """The files below a folder, each read when it is asked for. Nothing but regular files has any business there."""

    def __init__(self, folder: Path) -> None:
        """List a folder.

        Raises:
            IntegrityError: it is not there, or holds a link, a pipe or a device.
        """
        if not folder.is_dir():
            raise IntegrityError(f"{folder} is not a folder", hint="name the folder of a run")
        self._folder = folder
        self._names = dict.fromkeys(sorted(_names(folder)))

    def __getitem__(self, name: str) -> bytes:
        """Read one file."""
        if name not in self._names:
            raise KeyError(name)
        return (self._folder / name).read_bytes()

    def __iter__(self) -> Iterator[str]:
        """Name the files in alphabetical order."""
        return iter(self._names)

    def __len__(self) -> int:
        """Count the files."""
        return len(self._names)


def _names(folder: Path) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise IntegrityError(f"{path} is neither file nor folder", hint="a run holds regular files only")
        yield from (Path(place, name).relative_to(folder).as_posix() for name in files)
