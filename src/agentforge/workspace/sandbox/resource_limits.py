"""How much a command may take: sizes and counts that the kernel holds for each process.

A control group for the commands of this process, where the machine lets us make one: bounds on all of them together.
"""

from __future__ import annotations

import atexit
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from agentforge.frozen import dataclass

# Data, not address space: node, Java and the sanitizers reserve tens of gigabytes of addresses that they never use.
_MOST = {"data": 8 << 30, "nproc": 2048, "fsize": 2 << 30, "nofile": 16_384, "core": 0}


def limited(argv: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Put the limits before a command; where prlimit is missing the command stays as it is."""
    prlimit = _prlimit(env.get("PATH", ""))
    return [prlimit, *_options(), "--", *argv] if prlimit else list(argv)


def limits() -> dict[str, int]:
    """The limits by name, none above what this process may set itself."""
    import resource

    found = {}
    for name, most in _MOST.items():
        _, hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))
        found[name] = most if hard == resource.RLIM_INFINITY else min(most, hard)
    return found


@cache
def _options() -> tuple[str, ...]:
    return tuple(f"--{name}={value}" for name, value in limits().items())


@cache
def _prlimit(path: str) -> str | None:
    return shutil.which("prlimit", path=path) or shutil.which("prlimit", path="/usr/bin:/bin")


_PREFIX = "agentforge-"
_MOST_PROCESSES = 4096
_MOST_MEMORY_BYTES = 8 << 30
_ROOT = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Folders of the group, one for each controller (version 1) or one for all (version 2).

    Attributes:
        bounds: which of "processes" and "memory" are bounded.
    """

    folders: tuple[Path, ...]
    bounds: frozenset[str]

    def add(self, pid: int) -> None:
        """Move a process into the group; a process that is gone is no error."""
        for folder in self.folders:
            with suppress(ProcessLookupError):
                (folder / "cgroup.procs").write_text(str(pid))


@cache
def own_group() -> Group | None:
    """Make the group of this process on first use; None where control groups cannot be written.

    Side effects: the group goes when the process ends; those that killed processes left behind go now.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    folders, bounds = [], set()
    for parent, wanted in _parents():
        made = _made(parent, wanted)
        if made is not None:
            folders.append(made[0])
            bounds |= made[1]
    if not folders:
        return None
    atexit.register(_remove, os.getpid(), tuple(folders))
    return Group(folders=tuple(folders), bounds=frozenset(bounds))


def _parents() -> Iterator[tuple[Path, dict[str, tuple[str, int]]]]:
    """Where a group could be made, and the files that bound it: name of the bound -> (file, value)."""
    memory = min(_MOST_MEMORY_BYTES, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4)
    try:
        lines = Path("/proc/self/cgroup").read_text("utf-8").splitlines()
    except OSError:  # no control groups
        return
    for line in lines:
        _, controllers, place = line.split(":", 2)
        at = place.lstrip("/")
        if "pids" in controllers.split(","):
            yield _ROOT / "pids" / at, {"processes": ("pids.max", _MOST_PROCESSES)}
        elif "memory" in controllers.split(","):
            yield _ROOT / "memory" / at, {"memory": ("memory.limit_in_bytes", memory)}
        elif not controllers and (_ROOT / "cgroup.controllers").exists():
            wanted = {"processes": ("pids.max", _MOST_PROCESSES), "memory": ("memory.max", memory)}
            yield (_ROOT / at).parent if at else _ROOT, wanted


def _made(parent: Path, wanted: dict[str, tuple[str, int]]) -> tuple[Path, set[str]] | None:
    folder = parent / f"{_PREFIX}{os.getpid()}"
    try:
        _clear(parent)
        folder.mkdir(exist_ok=True)
    except OSError:  # read-only, or not ours
        return None
    bounds = set()
    for name, (file, value) in wanted.items():
        with suppress(OSError):  # the controller is not handed down to us
            (folder / file).write_text(str(value))
            bounds.add(name)
    if bounds and _may_move(parent, folder):
        return folder, bounds
    with suppress(OSError):
        folder.rmdir()
    return None


def _may_move(parent: Path, folder: Path) -> bool:
    return os.access(parent / "cgroup.procs", os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)


def _clear(parent: Path) -> None:
    """Remove the groups of processes that are gone."""
    for folder in parent.glob(f"{_PREFIX}*"):
        pid = folder.name.removeprefix(_PREFIX)
        if pid.isdigit() and not Path("/proc", pid).exists():
            with suppress(OSError):  # something still runs in it
                folder.rmdir()


def _remove(owner: int, folders: tuple[Path, ...]) -> None:
    if os.getpid() != owner:
        return
    for folder in folders:
        with suppress(OSError):  # something still runs in it: the next process clears it
            folder.rmdir()
