"""Whether a log is still the chain that its writers wrote, without folding it: for listings and for single steps.

Who lets go of a run notes in the lease which files it leaves (inode, size and the times that the file system keeps). While
they stand as they were left, their content needs no look; what a listing had to read (a copy, a run that was killed) it
remembers in the same way in the repository's cache.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from agentforge.canonical import canonical_bytes
from agentforge.errors import IntegrityError, StorageError
from agentforge.events.storage.view_mark import MARK
from agentforge.store.log.files import replace_file
from agentforge.store.log.lease import read_holder
from agentforge.store.log.reader import LOG, LogScan

Look = Literal["chain holds", "views changed"]


def what_is_left(folder: Path) -> str:
    """What the file system says of a run's log and of the mark of its views."""
    return f"{_stamp(f'{folder}/{LOG}')} {_stamp(f'{folder}/{MARK}')}"


@contextmanager
def remembered(tasks: Path) -> Iterator[dict[str, str]]:
    """What earlier listings of a repository read and found whole: task -> how its files stood.

    Args:
        tasks: the folder of the tasks.
    Side effects: what is added is kept for the next listing, where the disk takes it.
    """
    path = tasks.parent / "cache" / "looked.json"
    before = _read(path)
    found = dict(before)
    yield found
    if found != before and tasks.is_dir():
        with suppress(StorageError):  # a read-only repository: the next listing reads the logs once more
            replace_file(path, canonical_bytes(dict(sorted(found.items()))) + b"\n")


def look_at(folder: Path, known: dict[str, str] | None = None) -> Look:
    """Make sure that no record of a run was altered, at the least cost.

    Args:
        known: what `remembered` gave; what had to be read is added to it.
    Returns:
        How much of the views can be believed: `views changed` = not their summary.
    Raises:
        IntegrityError: there is no log, or a record was altered, damaged or cut off.
    """
    stands = what_is_left(folder)
    if known is not None and known.get(folder.name) == stands:
        return "chain holds"
    left = refuse_cut(folder)
    if left != stands:
        if left and left.split()[0] == stands.split()[0]:
            return "views changed"
        LogScan(folder).follow()
    if known is not None:
        known[folder.name] = stands
    return "chain holds"


def refuse_cut(folder: Path) -> str:
    """Make sure that a log is not shorter than its last writer left it: the chain of what remains would hold.

    Returns:
        How that writer left the files, "" when nobody looked.
    Raises:
        IntegrityError: it is shorter, or was altered as well.
    """
    left, stands = read_holder(folder).left, what_is_left(folder)
    if left and _size(stands) < _size(left):
        LogScan(folder).follow()
        raise IntegrityError(
            f"{folder / LOG} has {_size(stands)} bytes and had {_size(left)}: its end was cut off",
            hint="see `agentforge verify ID`, and restore the folder from a copy",
        )
    return left


def _read(path: Path) -> dict[str, str]:
    """The cache; one that is missing or broken remembers nothing."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _stamp(path: str) -> str:
    try:
        found = os.stat(path)  # noqa: PTH116 # once for each of a thousand tasks
    except FileNotFoundError:
        return "-"
    return f"{found.st_size}:{found.st_ino}:{found.st_mtime_ns}:{found.st_ctime_ns}"


def _size(stamps: str) -> int:
    """The size of the log in `what_is_left`; a log that is missing is refused where it is read."""
    size = stamps.split(":", maxsplit=1)[0]
    return int(size) if size.isdigit() else 1 << 62
