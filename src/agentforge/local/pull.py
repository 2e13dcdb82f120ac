"""Getting a model's file from wherever it is, resumed, bounded by the disk, and taken only when it is what the catalogue says."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agentforge.errors import LockedError, ModelFileError, StorageError
from agentforge.local.catalogue import CatalogueEntry, part_of
from agentforge.local.gguf import Header, read_header
from agentforge.local.sources import Source

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many bytes are done, and how many there are."""

_SPARE = 64 * 1024 * 1024
_BLOCK = 1024 * 1024


def pull(entry: CatalogueEntry, source: Source, *, folder: Path, progress: Progress) -> Header:
    """Get a model; what an earlier try left is gone on with.

    Args:
        folder: of models.
    Returns:
        The header of the file, as it says itself.
    Raises:
        ModelFileError: what came is not the model of the catalogue; it is not kept.
        StorageError: the disk has no room for it, or cannot be written. What came so far stays.
        LockedError: another process gets the same model.
        ModelUnavailable: the source cannot be reached or broke off, after all tries. What came so far stays.
    Side effects: network or disk; the file appears under its name only when it was verified.
    """
    path = folder / entry.file
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as exc:
        raise StorageError(f"{folder} cannot be made: {exc.strerror}") from exc
    with _alone(path):
        if not _is_right(path, entry, progress):
            _fill(part_of(path), entry, source, progress)
            _verify(part_of(path), entry, source, progress)
            part_of(path).replace(path)
        return read_header(path)


def digest_of(path: Path, progress: Progress) -> str:
    """SHA-256 of a file, in hex."""
    digest, done, size = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            done += len(block)
            progress("verifying", done, size)
    return digest.hexdigest()


def _is_right(path: Path, entry: CatalogueEntry, progress: Progress) -> bool:
    """Whether the model is here already; a file that rotted on the disk is none."""
    return path.is_file() and path.stat().st_size == entry.bytes and digest_of(path, progress) == entry.sha256


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.with_name(f"{path.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            raise LockedError(f"another process is downloading {path.name}", hint="wait until it is done") from exc
        yield


def _fill(part: Path, entry: CatalogueEntry, source: Source, progress: Progress) -> None:
    """Append to the part until it has all bytes."""
    have = part.stat().st_size if part.is_file() else 0
    if have > entry.bytes:
        part.unlink()
        have = 0
    free = shutil.disk_usage(part.parent).free
    if free < entry.bytes - have + _SPARE:
        raise StorageError(
            f"{entry.name} needs {_mb(entry.bytes - have + _SPARE)} in {part.parent}, and {_mb(free)} are free",
            hint="make room, set AGENTFORGE_HOME to a folder on another disk, or take a smaller model",
        )
    try:
        with part.open("ab") as file:
            if have:
                progress("resuming", have, entry.bytes)
            for block in source.blocks(have, entry.bytes):
                if block is None:  # the source cannot go on where we stopped
                    file.truncate(0)
                    have = 0
                    continue
                have += len(block)
                if have > entry.bytes:
                    raise _another(source, entry, f"it is larger than {entry.bytes} bytes", part)
                file.write(block)
                progress("downloading", have, entry.bytes)
    except OSError as exc:
        full = exc.errno in (errno.ENOSPC, errno.EDQUOT)
        raise StorageError(
            f"{part} cannot be written: {exc.strerror}",
            hint="make room and pull again: the download continues where it stopped" if full else "",
        ) from exc
    if have < entry.bytes:
        raise _another(source, entry, f"it has {have} bytes instead of {entry.bytes}", part)


def _verify(part: Path, entry: CatalogueEntry, source: Source, progress: Progress) -> None:
    found = digest_of(part, progress)
    if found != entry.sha256:
        raise _another(source, entry, f"its SHA-256 is {found}, the catalogue says {entry.sha256}", part)
    header = read_header(part)
    if header.architecture != entry.architecture:
        raise _another(source, entry, f"its architecture is {header.architecture!r}", part)


def _another(source: Source, entry: CatalogueEntry, why: str, part: Path) -> ModelFileError:
    """What came is not what was asked for: nothing of it is kept."""
    kind = ""
    try:
        header = read_header(part)
        kind = f" ({header.name or 'a model without a name'}, {header.architecture})"
    except ModelFileError as exc:
        kind = "" if part.stat().st_size == 0 else f" ({exc.message.removeprefix(f'{part} ')})"
    part.unlink(missing_ok=True)
    return ModelFileError(
        f"what {source.name} holds{kind} is not {entry.name}: {why}",
        hint="get it from its own place (without --from), or serve any GGUF file as it is: --model local/FILE.gguf",
    )


def _mb(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
