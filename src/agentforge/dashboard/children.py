"""Processes that drive tasks on behalf of the dashboard; they outlive it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import IO

from agentforge.errors import EXIT_DONE, EXIT_INTERRUPTED, EXIT_WAITING, ConflictError, ToolchainError
from agentforge.frozen import dataclass

_QUIET_ENDS = (EXIT_DONE, EXIT_WAITING, EXIT_INTERRUPTED)
_SHOWN_BYTES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Child:
    process: subprocess.Popen[bytes]
    told: IO[bytes]


class Children:
    """The processes that were started here, one for a task at most."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = {**environ}
        self._children: dict[Path, _Child] = {}
        self._lock = Lock()

    def resume(self, repository: Path, folder: Path, *, more: Sequence[str] = ()) -> None:
        """Go on with a task in a process of its own.

        Args:
            more: further arguments of `agentforge resume`.
        Raises:
            ConflictError: such a process runs already.
            ToolchainError: it cannot be started.
        """
        with self._lock:
            if self._running(folder):
                raise ConflictError(f"{folder.name} is already being worked on", hint="look at it again in a moment")
            self._close(folder)
            command = [sys.executable, "-m", "agentforge", "resume", folder.name, "--cwd", str(repository), *more]
            self._children[folder] = self._started(command)

    def drives(self, folder: Path) -> bool:
        """Whether a process that was started here is at work on a task, or about to be."""
        with self._lock:
            return self._running(folder)

    def interrupt(self, folder: Path) -> bool:
        """Ask the process to stop at a safe place, as Ctrl-C does; False when none was started here."""
        with self._lock:
            if not self._running(folder):
                return False
            self._children[folder].process.send_signal(signal.SIGINT)
            return True

    def wait(self, folder: Path, *, seconds: float) -> None:
        """Wait until the process of a task ended.

        Raises:
            ConflictError: it did not.
        """
        child = self._children.get(folder)
        try:
            if child is not None:
                child.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired as exc:
            raise ConflictError(f"{folder.name} did not stop within {seconds:g} s", hint="try again") from exc

    def complaint(self, folder: Path) -> str:
        """What the last process of a task said when it failed; "" when it did not."""
        with self._lock:
            child = self._children.get(folder)
            if child is None or child.process.poll() in (None, *_QUIET_ENDS):
                return ""
            size = child.told.seek(0, os.SEEK_END)
            child.told.seek(max(0, size - _SHOWN_BYTES))
            return child.told.read().decode("utf-8", "replace").strip()

    def _running(self, folder: Path) -> bool:
        child = self._children.get(folder)
        return child is not None and child.process.poll() is None

    def _close(self, folder: Path) -> None:
        child = self._children.pop(folder, None)
        if child is not None:
            child.told.close()

    def _started(self, command: Sequence[str]) -> _Child:
        """Start it in a folder that nobody can put modules into, and not as a part of this terminal."""
        told = tempfile.TemporaryFile()  # noqa: SIM115 # it stays open as long as the child is known
        try:
            process = subprocess.Popen(
                command,
                cwd="/",
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=told,
                start_new_session=True,
            )
        except OSError as exc:
            told.close()
            raise ToolchainError(f"agentforge cannot be started: {exc.strerror}", hint="try again") from exc
        return _Child(process=process, told=told)
