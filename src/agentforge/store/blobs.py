"""Large things that records name by digest: requests, outputs, patches, evidence. Written once, checked on reading."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from agentforge.canonical import Digest, digest_bytes
from agentforge.errors import IntegrityError
from agentforge.store.files import replace_file

_DEFLATED_OVER = 512
_DEFLATE_LEVEL = 1  # a third of the time of the default for a few per cent of the size
_LARGEST = 1 << 30
_HINT = "restore it from a copy of the run"
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """A folder of content-addressed files: `ab/cdef...`, with `.z` when the content is deflated."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: bytes) -> Digest:
        """Store `content`, durably, and return its digest; content that is there already is not written again.

        Raises:
            StorageError: it cannot be written.
        """
        digest = digest_bytes(content)
        deflated = len(content) > _DEFLATED_OVER
        path = self._path(digest, deflated=deflated)
        if not path.exists():
            data = zlib.compress(content, _DEFLATE_LEVEL) if deflated else content
            replace_file(path, data, durable=True)
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

    def _read(self, digest: str) -> bytes | None:
        if not _DIGEST.fullmatch(digest):
            return None
        try:
            return self._path(digest, deflated=False).read_bytes()
        except FileNotFoundError:
            return self._read_deflated(digest)

    def _read_deflated(self, digest: str) -> bytes | None:
        try:
            data = self._path(digest, deflated=True).read_bytes()
        except FileNotFoundError:
            return None
        try:
            return zlib.decompressobj().decompress(data, _LARGEST)
        except zlib.error as exc:
            raise IntegrityError(f"blob {digest} in {self.folder} was altered: {exc}", hint=_HINT) from exc

    def _path(self, digest: str, *, deflated: bool) -> Path:
        return self.folder / digest[:2] / f"{digest[2:]}{'.z' if deflated else ''}"
