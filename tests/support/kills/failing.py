"""Run the command line on a disk that fails at the n-th durable write of this process.

`python failing.py N FAULT ARGUMENTS...`; faults: `full` = the write takes half of the data and then nothing more is ever
taken (ENOSPC), `broken` = this one sync says EIO. With N = 0 nothing fails, and where each durable write comes from is told
on the last lines of stderr, one a line.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

import agentforge.store.log.files as files
import agentforge.store.log.run_log as log
import agentforge.store.views.actions_file as actions_file
from agentforge.cli.startup.entry import run

if TYPE_CHECKING:
    from types import FrameType

_MARK = "durable write: "


class Disk:
    """Counts what is written and synced, and fails when it is time.

    Args:
        at: the durable write that fails, 0 none.
        fault: `full` or `broken`.
    """

    def __init__(self, at: int, fault: str) -> None:
        self.at = at
        self.fault = fault
        self.places: list[str] = []
        self._write_all, self._fsync, self._fdatasync, self._pwrite = (
            files.write_all, os.fsync, os.fdatasync, os.pwrite,
        )  # fmt: skip

    @property
    def due(self) -> bool:
        """Whether this call fails: the n-th, and on a full disk all after it."""
        self.places.append(_place())
        count = len(self.places)
        return bool(self.at) and (count == self.at or (self.fault == "full" and count > self.at))

    def write_all(self, descriptor: int, data: bytes) -> None:
        """Stand in for files.write_all."""
        if self.fault == "full" and self.due:
            self._write_all(descriptor, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._write_all(descriptor, data)

    def fsync(self, descriptor: int) -> None:
        """Stand in for os.fsync."""
        self._synced(descriptor, self._fsync)

    def fdatasync(self, descriptor: int) -> None:
        """Stand in for os.fdatasync."""
        self._synced(descriptor, self._fdatasync)

    def pwrite(self, descriptor: int, data: bytes, place: int) -> int:
        """Stand in for os.pwrite, by which the lease is written."""
        if self.fault == "full" and self.due:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._pwrite(descriptor, data, place)

    def _synced(self, descriptor: int, sync: object) -> None:
        assert callable(sync)
        if self.fault == "broken" and self.due:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(descriptor)


def _place() -> str:
    """The functions of the program that lead to this write."""
    frame: FrameType | None = sys._getframe(2)
    names = []
    while frame is not None:
        if "agentforge" in frame.f_globals.get("__name__", ""):
            names.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return " < ".join(names)


def main() -> int:
    """Put the failing disk in place and run."""
    disk = Disk(int(sys.argv[1]), sys.argv[2])
    files.write_all = log.write_all = actions_file.write_all = disk.write_all  # type: ignore[assignment]
    os.fsync, os.fdatasync, os.pwrite = disk.fsync, disk.fdatasync, disk.pwrite  # type: ignore[assignment]
    code = run(sys.argv[3:])
    if not disk.at:
        sys.stderr.writelines(f"{_MARK}{place}\n" for place in disk.places)
    return code


sys.exit(main())
