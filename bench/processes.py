"""Measuring other processes: CPU time and memory by what the kernel says, never by the clock on the wall."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A process at one moment: seconds of CPU of its own and of the children it has waited for, MiB of memory."""

    own_s: float
    children_s: float
    rss_mib: float


def sample(pid: int) -> Sample:
    """Look at a living process; its CPU is counted in ticks of 10 ms, so take differences over many steps."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    user, system, child_user, child_system = (int(field) / _TICKS_PER_S for field in fields[11:15])
    pages = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1])
    return Sample(own_s=user + system, children_s=child_user + child_system, rss_mib=pages * _PAGE_BYTES / 2**20)


def own_cpu_s(pid: int) -> float:
    """CPU of the living threads of a process, to the nanosecond."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_bytes().split()[0]) for thread in threads) / 1e9


def launch(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start a process that reads nothing; what it says goes to a file."""
    with log.open("wb") as sink:
        return subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)


def ended(child: subprocess.Popen[bytes]) -> float:
    """Wait for a process and return its CPU seconds, those of the children that it waited for included."""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def cpu_of(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> float:
    """CPU seconds of one run of a program.

    Raises:
        RuntimeError: it failed.
    """
    child = launch(argv, env=env, cwd=cwd, log=cwd / "said")
    used = ended(child)
    if child.returncode:
        raise RuntimeError(f"{argv} ended with {child.returncode}: {(cwd / 'said').read_text()[-400:]}")
    return used
