"""Which names below a folder were touched, as the kernel tells (inotify), so that a large workspace is not looked at whole.

What the kernel cannot tell for sure is never taken for untouched: then everything has to be looked at. That is so where folders
were made, moved or removed, where a file has two names or had a name that is gone again (a hard link changes a file under its
other name, which nobody is told), where too much happened at once, and on file systems that are not known to tell everything.
Of what is written through a mapping in memory the kernel tells when the file is closed: the processes of a command have ended by
then. Where processes go on while somebody looks, this is not used.
"""

from __future__ import annotations

import ctypes
import os
import struct
import weakref
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

_MODIFIED, _ATTRIBUTES, _CLOSED = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATED, _DELETED, _SELF_DELETED, _SELF_MOVED = 0x40, 0x80, 0x100, 0x200, 0x400, 0x800
_UNMOUNTED, _OVERFLOW, _IGNORED, _FOLDER = 0x2000, 0x4000, 0x8000, 0x40000000
_ASKED = _MODIFIED | _ATTRIBUTES | _CLOSED | _MOVED_FROM | _MOVED_TO | _CREATED | _DELETED | _SELF_DELETED | _SELF_MOVED
_ONLY_FOLDERS, _NO_LINKS = 0x01000000, 0x02000000
_UNSURE = _SELF_DELETED | _SELF_MOVED | _UNMOUNTED | _OVERFLOW | _IGNORED
_APPEARED = _MOVED_TO | _CREATED
_HEAD = struct.Struct("iIII")
_CHUNK_BYTES = 1 << 18
_TELLING = frozenset({"ext2", "ext3", "ext4", "xfs", "tmpfs", "f2fs"})
"""File systems on which every change from this machine goes through the folder that is watched."""


class TouchedNames:
    """Follows the folders of one workspace.

    Args:
        root: the workspace; names are relative to it.

    Attributes:
        is_sure: what `taken` will tell is all that was touched, as far as is known now.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._queue = -1
        self._folders: dict[int, str] = {}
        self.is_sure = False

    def begin(self) -> bool:
        """Forget everything and follow nothing yet; False where the kernel cannot tell."""
        self.stop()
        library = _library()
        if library is None or _kind_of(self._root) not in _TELLING:
            return False
        self._queue = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._queue >= 0:
            self._close = weakref.finalize(self, os.close, self._queue)
            self.is_sure = True
        return self.is_sure

    def stop(self) -> None:
        """Follow nothing any more."""
        if self._queue >= 0:
            self._close()
        self._queue, self.is_sure = -1, False
        self._folders.clear()

    def follow(self, folder: str, path: str) -> None:
        """Follow one folder, before its content is looked at.

        Args:
            folder: relative to the workspace, "" or with a `/` behind.
        """
        library = _library()
        if not self.is_sure or library is None:
            return
        number = library.inotify_add_watch(self._queue, os.fsencode(path), _ASKED | _ONLY_FOLDERS | _NO_LINKS)
        if number < 0 or number in self._folders:  # there are too many, or it is another folder's place, too
            self.doubt()
        else:
            self._folders[number] = folder

    def doubt(self) -> None:
        """Say that the kernel will not tell everything."""
        self.is_sure = False

    def taken(self) -> frozenset[str] | None:
        """The names that were touched since the last time; None when everything has to be looked at."""
        if not self.is_sure:
            return None
        names: set[str] = set()
        appeared: set[str] = set()
        renamed: dict[int, str] = {}
        left: set[str] = set()
        for mask, cookie, name in self._told():
            if mask & _UNSURE or (mask & _FOLDER and mask & (_APPEARED | _MOVED_FROM | _DELETED)):
                self.doubt()
            names.add(name)
            left.discard(name)
            if mask & _APPEARED:
                appeared.add(name)
            if mask & _MOVED_FROM:
                renamed[cookie] = name
            elif mask & _MOVED_TO and cookie in renamed:  # what it was called before is gone, and it is still here
                left.add(renamed.pop(cookie))
        if not self.is_sure or not all(name in left or self._has_one_name(name) for name in appeared):
            self.doubt()
            return None
        return frozenset(names - {"", ".git"})

    def _has_one_name(self, name: str) -> bool:
        """Whether what appeared is there, under this name alone."""
        try:
            return os.lstat(f"{self._root}/{name}").st_nlink == 1
        except OSError:
            return False

    def _told(self) -> Iterator[tuple[int, int, str]]:
        """The kernel's words, oldest first: what happened, what tells that two belong together, and to which name."""
        with suppress(BlockingIOError):
            while True:
                data = os.read(self._queue, _CHUNK_BYTES)
                at = 0
                while at < len(data):
                    number, mask, cookie, length = _HEAD.unpack_from(data, at)
                    at += _HEAD.size + length
                    name = data[at - length : at].rstrip(b"\0")
                    folder = self._folders.get(number)
                    if folder is None and not mask & _OVERFLOW:
                        mask |= _IGNORED
                    yield mask, cookie, f"{folder or ''}{os.fsdecode(name)}" if name else (folder or "")[:-1]


@cache
def _library() -> ctypes.CDLL | None:
    """The C library, where it has what is needed."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        library.inotify_init1.argtypes = [ctypes.c_int]
        library.inotify_add_watch.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32]
    except (OSError, AttributeError):
        return None
    return library


def _kind_of(folder: Path) -> str:
    """The kind of the file system that holds a folder, as the kernel names it; "" when it is not told."""
    try:
        device = folder.stat().st_dev
        rows = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    place = f"{os.major(device)}:{os.minor(device)}"
    kinds = {row.partition(" - ")[2].split(" ")[0] for row in rows if row.split(" ")[2] == place}
    return kinds.pop() if len(kinds) == 1 else ""
