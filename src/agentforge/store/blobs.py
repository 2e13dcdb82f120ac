"""Large things that records name by digest: requests, outputs, patches, evidence. Written once, checked on reading.

The blobs of a run that is over can be packed into one file: a small file takes a whole block of the disk, and a folder, too.
"""

from __future__ import annotations

import re
from pathlib import Path

from agentforge.canonical import Digest, digest_bytes
from agentforge.errors import IntegrityError
from agentforge.events.storage.blob_form import (
    PACK,
    Entry,
    inflated,
    is_deflated,
    pack_entries,
    packed,
    stored,
    table_bytes,
)
from agentforge.store.log.files import remove_halves, replace_file

_HINT = "restore it from a copy of the run"
_DIGEST = r"[0-9a-f]{64}"
_PACK = PACK.removeprefix("blobs/")
_HEAD_BYTES = 64


class Blobs:
    """A folder of content-addressed files: `ab/cdef...`, with `.z` when the content is deflated; or all of them in `pack`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._packed: dict[str, Entry] = {}

    def put(self, content: bytes) -> Digest:
        """Store `content`, durably, and return its digest; content that is there already is not written again.

        Raises:
            StorageError: it cannot be written.
        """
        digest = digest_bytes(content)
        path = self._path(digest, deflated=is_deflated(content))
        if not path.exists() and self._entry(digest) is None:
            replace_file(path, stored(content), durable=True)
        return digest

    def get(self, digest: str) -> bytes:
        """The content that `digest` names.

        Raises:
            IntegrityError: it is missing, or is not what the digest says.
        """
        content = self._read(digest)
        if content is None:
            raise IntegrityError(f"blob {digest} is missing in {self.folder}", hint=_HINT)
        if digest_bytes(content) != digest:
            raise IntegrityError(f"blob {digest} in {self.folder} was altered", hint=_HINT)
        return content

    def has(self, digest: str) -> bool:
        """Whether there is such a blob; what only looks like a digest names none.

        Raises:
            IntegrityError: the pack is damaged.
        """
        loose = (self._path(digest, deflated=deflated).is_file() for deflated in (False, True))
        return re.fullmatch(_DIGEST, digest) is not None and (any(loose) or self._entry(digest) is not None)

    def pack(self) -> int:
        """Put all blobs into one file; returns how many files that saved.

        Raises:
            IntegrityError: the pack that is there is damaged.
            StorageError: the disk does not take the new one; the files are all still there.
        Side effects: only the one writer of a run may do this. A reader that looks for a file just now finds the pack. What a
            killed writer left half written is removed.
        """
        remove_halves(self.folder)
        loose = {f"blobs/{path.relative_to(self.folder).as_posix()}": path for path in self.folder.glob("??/*")}
        if not loose:
            return 0
        inside = {entry.path: self._packed_data(entry) for entry in self._entries().values()}
        inside |= {name: path.read_bytes() for name, path in loose.items()}
        replace_file(self.folder / _PACK, packed(inside), durable=True)
        self._packed = {}
        for path in loose.values():
            path.unlink()
        for folder in self.folder.glob("??"):
            folder.rmdir()
        return len(loose)

    def _read(self, digest: str) -> bytes | None:
        if not re.fullmatch(_DIGEST, digest):
            return None
        try:
            return self._path(digest, deflated=False).read_bytes()
        except FileNotFoundError:
            return self._read_deflated(digest)

    def _read_deflated(self, digest: str) -> bytes | None:
        try:
            data = self._path(digest, deflated=True).read_bytes()
        except FileNotFoundError:
            return self._read_packed(digest)
        return self._inflated(digest, data)

    def _read_packed(self, digest: str) -> bytes | None:
        entry = self._entry(digest)
        if entry is None:
            return None
        data = self._packed_data(entry)
        return self._inflated(digest, data) if entry.deflated else data

    def _inflated(self, digest: str, data: bytes) -> bytes:
        try:
            return inflated(data)
        except ValueError as exc:
            raise IntegrityError(f"blob {digest} in {self.folder} was altered: {exc}", hint=_HINT) from exc

    def _entry(self, digest: str) -> Entry | None:
        if not self._packed:
            self._packed = self._entries()
        return self._packed.get(digest)

    def _entries(self) -> dict[str, Entry]:
        path = self.folder / _PACK
        try:
            with path.open("rb") as file:
                size = table_bytes(file.read(_HEAD_BYTES))
                file.seek(0)
                rows = pack_entries(file.read(size), size=path.stat().st_size)
                return {entry.digest: entry for entry in rows}
        except FileNotFoundError:
            return {}
        except ValueError as exc:
            raise IntegrityError(f"{path} was altered: {exc}", hint=_HINT) from exc

    def _packed_data(self, entry: Entry) -> bytes:
        with (self.folder / _PACK).open("rb") as file:
            file.seek(entry.start)
            return file.read(entry.size)

    def _path(self, digest: str, *, deflated: bool) -> Path:
        return self.folder / digest[:2] / f"{digest[2:]}{'.z' if deflated else ''}"
