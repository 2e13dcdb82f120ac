"""Writing files so that a reader never sees half of one, and so that they survive a power cut where that matters."""

from __future__ import annotations

import os
from pathlib import Path
from threading import get_ident

from agentforge.errors import StorageError, remedy_of
from agentforge.workspace.files.file_access import sync_folder


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`; a regular file takes less only when it cannot take more, which the next write reports.

    Raises:
        OSError: the disk is full, a limit, an I/O error.
    """
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, data[written:])


def replace_file(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Put `data` at `path` by a temporary file and a rename, creating folders on the way.

    Args:
        durable: also sync the file and its folder. Views need none of that: they are rebuilt from the log.
    Raises:
        StorageError: the file cannot be written; what stood there before still does.
    """
    temporary = path.parent / f".{path.name}.{os.getpid()}.{get_ident()}.tmp"
    try:
        _write_new(temporary, data, durable=durable)
        temporary.replace(path)
        if durable:
            sync_folder(path.parent)
    except OSError as exc:
        temporary.unlink(missing_ok=True)
        raise storage_error(exc, path) from exc


def remove_halves(folder: Path) -> None:
    """Remove what killed writers left half written anywhere in `folder`; only its one writer may do this."""
    for half in folder.rglob(".*.tmp"):
        half.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Create `folder` and its parents, each made durable in its own parent; an existing folder costs one look.

    Raises:
        OSError: it cannot be created.
    """
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def storage_error(exc: OSError, path: Path) -> StorageError:
    """The error for a write that failed, with what the user can do."""
    hint = remedy_of(exc) or "check the disk, then resume the run"
    return StorageError(f"{path} cannot be written: {exc.strerror or exc}", hint=hint)


def _write_new(path: Path, data: bytes, *, durable: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    try:
        descriptor = os.open(path, flags, 0o666)
    except FileNotFoundError:
        make_folder(path.parent)
        descriptor = os.open(path, flags, 0o666)
    try:
        write_all(descriptor, data)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
