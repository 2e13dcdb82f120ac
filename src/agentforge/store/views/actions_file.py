"""actions.yaml on disk: a head, then entries. Entries are appended at constant cost; a new head replaces the file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from agentforge.frozen import dataclass
from agentforge.store.log.files import storage_error, write_all
from agentforge.views.yaml_text import dump

_EMPTY = b"actions: []\n"
_BEGIN = b"actions:\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionsSize:
    """What the file holds, for finding out whether it is the one that was written last."""

    head_bytes: int = 0
    entries: int = 0
    total_bytes: int = 0


class ActionsFile:
    """The file of one run.

    Attributes:
        size: what was written; the zero size is a file that is not there yet.
    """

    def __init__(self, path: Path, size: ActionsSize | None = None) -> None:
        self._path = path
        self.size = size or ActionsSize()

    def intact(self) -> bool:
        """Whether the file on disk is as long as it was written."""
        try:
            return self._path.stat().st_size == self.size.total_bytes
        except FileNotFoundError:
            return self.size.total_bytes == 0

    def write(self, entries: Sequence[Mapping[str, object]], *, head: Mapping[str, object] | None) -> None:
        """Add entries, and replace the head where one is given.

        Raises:
            StorageError: the disk does not take it.
        """
        text = dump(list(entries)).encode() if entries else b""
        try:
            if head is None and (self.size.entries or not entries):
                self._append(text)
            else:
                self._replace(text, dump(head).encode() if head is not None else None, first=not self.size.entries)
        except OSError as exc:
            raise storage_error(exc, self._path) from exc
        self.size = ActionsSize(
            head_bytes=self.size.head_bytes,
            entries=self.size.entries + len(entries),
            total_bytes=self._path.stat().st_size,
        )

    def _append(self, text: bytes) -> None:
        if not text:
            return
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            write_all(descriptor, text)
        finally:
            os.close(descriptor)

    def _replace(self, text: bytes, head: bytes | None, *, first: bool) -> None:
        """Write head, old entries and new entries beside the file and put them in its place."""
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("wb") as new:
                new.write(self._old_head() if head is None else head)
                head_bytes = new.tell()
                new.write(_EMPTY if first and not text else _BEGIN)
                if not first:
                    self._copy_entries(new)
                new.write(text)
            temporary.replace(self._path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        self.size = ActionsSize(head_bytes=head_bytes, entries=self.size.entries)

    def _old_head(self) -> bytes:
        with self._path.open("rb") as old:
            return old.read(self.size.head_bytes)

    def _copy_entries(self, new: BinaryIO) -> None:
        with self._path.open("rb") as old:
            old.seek(self.size.head_bytes + len(_BEGIN))
            shutil.copyfileobj(old, new)
