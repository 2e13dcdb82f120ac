"""A bundle: one file with all that an outsider needs. A gzipped tar with fixed times, owners and order, so that equal
runs give equal bytes; `manifest.json` names every other file by digest.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zlib
from collections.abc import Mapping
from typing import IO, Any, cast

from agentforge.canonical import canonical_bytes, digest_bytes
from agentforge.errors import IntegrityError
from agentforge.frozen import dataclass
from agentforge.proof.anchors import Commit, Note, read_commit, read_note
from agentforge.proof.files import Files
from agentforge.proof.report import Check, told

FORMAT = "agentforge-bundle/1"
MANIFEST, COMMIT, NOTE, PACK = "manifest.json", "git/commit", "git/note.json", "git/objects.pack"
_RUN = "run/"
_LARGEST = 2 << 30
_MOST_TIMES, _ALWAYS = 100, 64 << 20
"""A bundle inflates to at most so many times its size, or so many bytes: what we write comes to a tenth of that."""
_CHUNK = 1 << 20
_LEVEL = 6
_HEADER = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
"""Of gzip: no name, no time, no word about the system; zlibs differ in the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle that was opened; `check` says whether it is whole."""

    task: str
    files: Files
    commit: Commit | None
    note: Note | None
    pack: bytes
    check: Check


def write_bundle(*, task: str, run: Files, git: Mapping[str, bytes]) -> bytes:
    """Pack a run's files and what git has of it.

    Args:
        git: contents of COMMIT, NOTE and PACK, as far as there are any.
    """
    inside = {**{f"{_RUN}{name}": run[name] for name in run}, **git}
    digests = {name: digest_bytes(content) for name, content in sorted(inside.items())}
    manifest = canonical_bytes({"format": FORMAT, "task": task, "files": digests}) + b"\n"
    return _HEADER + gzip.compress(_tar({MANIFEST: manifest, **inside}), compresslevel=_LEVEL, mtime=0)[len(_HEADER) :]


def read_bundle(data: bytes) -> Bundle:
    """Open a bundle.

    Raises:
        IntegrityError: it is not one, or too damaged to be looked into.
    """
    inside = _untar(_inflated(data))
    try:
        manifest = json.loads(inside.pop(MANIFEST))
        task, digests = str(manifest["task"]), dict(manifest["files"])
        if manifest["format"] != FORMAT:
            raise IntegrityError(f"the bundle has the format {manifest['format']!r}", hint="upgrade agentforge")
    except (KeyError, ValueError, TypeError) as exc:
        raise IntegrityError("this is not a bundle: it has no manifest", hint="make it with agentforge bundle") from exc
    problems = [f"{name} is missing" for name in digests if name not in inside]
    problems += [f"{name} is not in the manifest" for name in inside if name not in digests]
    problems += [f"{name} was altered" for name in inside if digests.get(name, "") != digest_bytes(inside[name])]
    note = read_note(inside[NOTE].decode("utf-8", "replace")) if NOTE in inside else None
    commit = read_commit(inside[COMMIT], oid=note.commit) if note is not None and COMMIT in inside else None
    return Bundle(
        task=task,
        files={name.removeprefix(_RUN): content for name, content in inside.items() if name.startswith(_RUN)},
        commit=commit,
        note=note,
        pack=inside.get(PACK, b""),
        check=told("bundle", problems, held=f"{len(digests)} files, each as the manifest has it"),
    )


def _tar(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    _write_tar(files, out)
    return out.getvalue()


def _write_tar(files: Mapping[str, bytes], out: IO[bytes]) -> None:
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))


class _Comparison(io.RawIOBase):
    """Takes bytes and keeps none of them: only whether they are those that were expected."""

    def __init__(self, expected: bytes) -> None:
        self._expected = memoryview(expected)
        self._at = 0
        self.same = True

    @property
    def whole(self) -> bool:
        """Whether all came, and nothing else."""
        return self.same and self._at == len(self._expected)

    def tell(self) -> int:
        """How many bytes came."""
        return self._at

    def write(self, data: Any) -> int:
        """Compare the next bytes."""
        size = len(data)
        self.same = self.same and self._expected[self._at : self._at + size] == data
        self._at += size
        return size


def _same_tar(files: Mapping[str, bytes], data: bytes) -> bool:
    """Whether a tar of ours with these files has these bytes; no second copy is made."""
    seen = _Comparison(data)
    _write_tar(files, cast("IO[bytes]", seen))
    return seen.whole


def _inflated(data: bytes) -> bytes:
    if not data.startswith(_HEADER):
        word = "was not written by agentforge, or was altered" if data.startswith(_HEADER[:2]) else "is no bundle"
        raise IntegrityError(f"the file {word}", hint="make a bundle with agentforge bundle TASK, or fetch it again")
    stream, content, rest = zlib.decompressobj(wbits=31), bytearray(), data
    bound = min(_LARGEST, max(_ALWAYS, _MOST_TIMES * len(data)))
    try:
        while not stream.eof and rest:
            content += stream.decompress(rest, _CHUNK)
            rest = stream.unconsumed_tail
            if len(content) > bound:
                told = f"the bundle has {len(data)} bytes and inflates to more than {bound}: no run does"
                raise IntegrityError(told, hint="fetch it again, and ask who made it")
    except zlib.error as exc:
        raise IntegrityError(f"the bundle is damaged: {exc}", hint="fetch it again") from exc
    if not stream.eof or stream.unused_data:
        raise IntegrityError("the bundle is damaged: its end is not where it was", hint="fetch it again")
    return bytes(content)


def _untar(data: bytes) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for entry in tar:
                content = tar.extractfile(entry) if entry.isreg() else None
                if content is None or entry.name in files:
                    raise IntegrityError(
                        f"the bundle holds {entry.name!r}, which is not a plain file or is there twice"
                    )
                files[entry.name] = content.read()
    except (tarfile.TarError, EOFError) as exc:
        raise IntegrityError(f"the bundle is damaged: {exc}", hint="fetch it again") from exc
    if not _same_tar(files, data):
        raise IntegrityError("the bundle was not written by agentforge, or was altered", hint="fetch it again")
    return files
