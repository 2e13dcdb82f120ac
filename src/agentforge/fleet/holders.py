"""Who holds the file of the queue: a process that was stopped in the middle of a change keeps everybody else out."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agentforge.fleet.rescue import Frozen

_LOCKS = Path("/proc/locks")


def end_frozen_holders(file: Path, frozen: Frozen, *, tell: Callable[[str], None]) -> None:
    """End processes of this machine that hold the database and have stood still for too long.

    What one of them had not finished is undone by SQLite; its runs are taken over as those of any worker that is gone.

    Args:
        file: of the database.
        frozen: remembers since when they stand still.
    Side effects: SIGKILL.
    """
    for pid in frozen.among(holders_of(file)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        tell(f"process {pid} held the database of the queue and stood still: it was ended")


def holders_of(file: Path) -> set[int]:
    """Processes with an exclusive lock on an SQLite file, or on the index of its log; none where that cannot be seen.

    The kernel's list is read, since whoever opens and closes the file itself gives up the locks of its own process.
    """
    places = set()
    for path in (file, file.with_name(f"{file.name}-shm")):
        with suppress(FileNotFoundError):
            found = path.stat()
            places.add(f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}")
    try:
        lines = _LOCKS.read_text("ascii").splitlines()
    except OSError:  # not Linux, or hidden
        return set()
    rows = [line.split() for line in lines]
    return {int(row[4]) for row in rows if row[1] == "POSIX" and row[3] == "WRITE" and row[5] in places}
