"""Boxes that outlived the process that made them.

Bubblewrap dies with its parent, but for one moment: its child waits to be let in, and when both parents are killed just
then it waits for ever. It has run nothing; the next process that opens the run ends it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def end_orphans(worktree: Path) -> int:
    """Kill the boxes of a run whose process died; only the run's one writer may ask for it, before it makes its own.

    Args:
        worktree: of the run; a box names it, or the scratch folder beside it, in its arguments.
    Returns:
        How many there were.
    """
    if not hasattr(os, "pidfd_open") or not hasattr(signal, "pidfd_send_signal"):
        return 0
    return sum(_ended(pid, str(worktree)) for pid in _processes())


def _processes() -> Iterator[int]:
    try:
        names = [entry.name for entry in _PROC.iterdir()]
    except OSError:  # no /proc: nothing to be found
        return
    yield from (int(name) for name in names if name.isdigit() and int(name) != os.getpid())


def _ended(pid: int, worktree: str) -> bool:
    try:
        process = os.pidfd_open(pid)
    except OSError:  # gone by now, or a thread
        return False
    try:
        if not _is_box(pid, worktree):
            return False
        with suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(process, signal.SIGKILL)
            return True
        return False
    finally:
        os.close(process)


def _is_box(pid: int, worktree: str) -> bool:
    try:
        arguments = os.fsdecode((_PROC / str(pid) / "cmdline").read_bytes()).split("\0")
    except OSError:
        return False
    below = (f"{worktree}/", f"{worktree}.scratch/")
    named = any(argument == worktree or argument.startswith(below) for argument in arguments)
    return named and Path(arguments[0]).name == "bwrap"
