"""Run the command line and die as by `kill -9` at the n-th durable write of this process.

`python killed.py N MODE ARGUMENTS...`; modes: `torn` = half of the record is written, `written` = the record is written and
not yet synced, `synced` = it is durable and nothing after it happened.
"""

from __future__ import annotations

import os
import sys

import agentforge.store.log.run_log as log
from agentforge.cli.startup.entry import run


def main() -> int:
    """Install the kill point and run."""
    at, mode, arguments = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    write_all, fdatasync, count = log.write_all, os.fdatasync, 0

    def dying_write(descriptor: int, data: bytes) -> None:
        if mode == "torn" and count + 1 == at:
            write_all(descriptor, data[: len(data) // 2])
            os.kill(os.getpid(), 9)
        write_all(descriptor, data)

    def dying_sync(descriptor: int) -> None:
        nonlocal count
        count += 1
        if mode == "written" and count == at:
            os.kill(os.getpid(), 9)
        fdatasync(descriptor)
        if mode == "synced" and count == at:
            os.kill(os.getpid(), 9)

    log.write_all = dying_write
    os.fdatasync = dying_sync
    return run(arguments)


sys.exit(main())
