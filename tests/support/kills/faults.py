"""Faults at any change that a command makes on disk: by itself, by git, by the processes of the fleet (see `faults.c`)."""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from enum import IntEnum
from pathlib import Path

from tests.support import warm

_SOURCE = Path(__file__).with_name("faults.c")
_PATH_MAX = 4096
_PATIENCE_S = 280.0
_OPTIONS = ("-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror")
_VARIES = (
    (r"objects/[0-9a-f]{2}(/|$)", r"objects/..\1"),
    (r"blobs/[0-9a-f]{2}(/|$)", r"blobs/..\1"),
    (r"tmp_obj_\w+", "tmp_obj"),
    (r"[0-9a-f]{38,64}", "HASH"),
    (r"heads/[0-9a-f]{16}", "heads/REPO"),
    (r"worktrees/[0-9a-f]{16}", "worktrees/REPO"),
    (r"task-[a-z0-9-]+", "TASK"),
    (r"(checkout|agentforge|HASH\.json)[-.][a-z0-9_]{8,16}\b", r"\1-ANY"),
    (r"\.\d+(\.\d+)?\.tmp", ".tmp"),
    (r"(?<=artifacts/phases/)[a-z]+/\.?[a-z_]+", "STAGE/ARTIFACT"),
    (r"(?<=artifacts/phases/)[a-z]+$", "STAGE"),
    (r"step_\d+", "STEP"),
)


class Mode(IntEnum):
    """What happens at the change: see `faults.c`.

    Attributes:
        TRACE: nothing; every change is told.
        KILLED: the command and the process that makes it are killed before it.
        TORN: they are killed when half of what is written stands.
        FULL: half is written, and from then on the disk takes nothing more.
        ONCE: half is written, the rest finds no room, and then there is room again.
        CHILD: the process that makes it is killed before it, alone.
    """

    TRACE = 0
    KILLED = 1
    TORN = 2
    FULL = 3
    ONCE = 4
    CHILD = 5


class _Control(ctypes.Structure):
    _fields_ = (
        ("armed", ctypes.c_uint32),
        ("count", ctypes.c_uint32),
        ("fired", ctypes.c_uint32),
        ("at", ctypes.c_uint32),
        ("mode", ctypes.c_uint32),
        ("server", ctypes.c_uint32),
        ("root", ctypes.c_char * _PATH_MAX),
        ("trace", ctypes.c_char * _PATH_MAX),
        ("struck", ctypes.c_char * (_PATH_MAX + 16)),
    )


class Disk:
    """Runs commands whose changes below one folder are counted, and of which one fails.

    Args:
        folder: its own: for the library, and for what the processes share.
        root: the folder whose changes count.
        pycache: where the interpreter keeps its byte code.
    """

    def __init__(self, folder: Path, *, root: Path, pycache: Path) -> None:
        library, shared, self._trace = folder / "faults.so", folder / "control", folder / "trace"
        compiler = shutil.which("cc")
        assert compiler is not None, "there is no C compiler"
        subprocess.run([compiler, *_OPTIONS, "-o", str(library), str(_SOURCE), "-ldl"], check=True)
        shared.write_bytes(bytes(ctypes.sizeof(_Control)))
        with shared.open("r+b") as file:
            self._control = _Control.from_buffer(mmap.mmap(file.fileno(), 0))
        self._control.root, self._control.trace = os.fsencode(root), os.fsencode(self._trace)
        environ = {"PYTHONPYCACHEPREFIX": str(pycache), "LANG": "C.UTF-8"}
        self._server = warm.Server(env={**environ, "LD_PRELOAD": str(library), "AGENTFORGE_FAULTS": str(shared)})
        self._control.server = self._server.pid
        self._root = str(root)

    def close(self) -> None:
        """End its processes."""
        self._server.close()

    def run(
        self, *arguments: str, at: int, mode: Mode, cwd: Path, env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command line with a fault at its `at`-th change, 0 none."""
        control = self._control
        control.struck, control.fired, control.count = b"", 0, 0
        control.at, control.mode, control.armed = at, mode, 1
        self._trace.unlink(missing_ok=True)
        try:
            return self._server.run(arguments, cwd=cwd, env=env, stdin=b"", timeout_s=_PATIENCE_S)
        finally:
            control.armed = 0

    @property
    def struck(self) -> str:
        """The change at which the last command came to its fault, "" when it did not."""
        return self._named(os.fsdecode(self._control.struck))

    @property
    def changes(self) -> list[str]:
        """The changes of the last command in mode TRACE: call and path, without what is different every time."""
        lines = self._trace.read_text("utf-8").splitlines()
        return [self._named(line.partition(" ")[2]) for line in lines]

    def _named(self, change: str) -> str:
        return named(change.replace(f"{self._root}/", ""))


def named(change: str) -> str:
    """A change without what is different every time."""
    for pattern, instead in _VARIES:
        change = re.sub(pattern, instead, change)
    return change
