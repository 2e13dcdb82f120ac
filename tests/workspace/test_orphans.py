"""A box whose makers were killed before it was let in is ended by the next process; the boxes of other runs are not."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentforge.workspace.processes.orphans import end_orphans

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.needs("bwrap")


@contextmanager
def waiting_box(place: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A box that is never let in, as the one of a killed run."""
    place.mkdir(parents=True, exist_ok=True)
    reader, writer = os.pipe()
    box = ["--ro-bind", "/", "/", "--bind", str(place), str(place), "--block-fd", str(reader), "--", "true"]
    process = subprocess.Popen(["bwrap", "--unshare-pid", *box], pass_fds=(reader,))
    named = Path("/proc", str(process.pid), "cmdline")
    while b"bwrap" not in named.read_bytes():  # its arguments are there a moment after the program
        os.sched_yield()
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        os.close(reader)
        os.close(writer)


@pytest.mark.parametrize("below", ["", "/sub", ".scratch/checkout-1"])
def test_a_box_of_the_run_is_ended(tmp_path: Path, below: str) -> None:
    worktree = tmp_path / "task-20260101-a"
    with waiting_box(tmp_path / f"task-20260101-a{below}") as box:
        assert end_orphans(worktree) >= 1
        assert box.wait(timeout=10) == -signal.SIGKILL


def test_a_box_of_a_run_with_a_longer_name_stays(tmp_path: Path) -> None:
    with waiting_box(tmp_path / "task-20260101-a-2") as box:
        assert end_orphans(tmp_path / "task-20260101-a") == 0
        assert box.poll() is None


def test_other_programs_that_name_the_worktree_stay(tmp_path: Path) -> None:
    worktree = tmp_path / "task-20260101-a"
    reader, writer = os.pipe()
    editor = subprocess.Popen(["cat", "-", str(worktree)], stdin=reader, stderr=subprocess.DEVNULL)
    try:
        assert end_orphans(worktree) == 0
        assert editor.poll() is None
    finally:
        os.close(writer)
        os.close(reader)
        editor.wait()
