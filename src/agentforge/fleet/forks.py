"""Processes that drive runs, as their worker sees them: forked by a server that has imported the program before."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

_SERVER_GONE = -signal.SIGKILL
"""How a run ends whose server is gone: the kernel kills it."""


class Fork:
    """One process that drives a run.

    Attributes:
        pid: its number; 0 when it could not be started.
        returncode: how it ended, negative by a signal; None while it runs.
    """

    def __init__(self, told: IO[str]) -> None:
        self._told = told
        self.pid = int(told.readline() or 0)
        self.returncode: int | None = None

    def wait(self) -> int:
        """Wait until it has ended.

        Returns:
            Its exit code, negative by a signal.
        """
        self.returncode = int(self._told.readline() or _SERVER_GONE)
        self._told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to it while it runs."""
        if self.returncode is None and self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


class Forks:
    """Starts such processes; the server is started with the first one, and again if somebody has ended it.

    Args:
        environ: of the server and of all that it forks.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._lock = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._wanted: socket.socket | None = None

    def start(self, arguments: Sequence[str], *, errors: IO[bytes]) -> Fork:
        """Start a process that drives the run of `arguments`: repository, task.

        Args:
            errors: what it writes to its standard error.
        """
        message = json.dumps(list(arguments)).encode()
        told, pipe = os.pipe()
        try:
            with self._lock:
                try:
                    socket.send_fds(self._socket(), [message], [errors.fileno(), pipe])
                except (BrokenPipeError, ConnectionResetError):  # it was ended a moment ago
                    self._end_server()
                    socket.send_fds(self._socket(), [message], [errors.fileno(), pipe])
        finally:
            os.close(pipe)
        return Fork(os.fdopen(told, encoding="ascii"))

    def close(self) -> None:
        """End the server, once nothing runs any more."""
        with self._lock:
            self._end_server()

    @property
    def server_pid(self) -> int:
        """The number of the server's process; 0 while there is none."""
        server = self._server
        return server.pid if server is not None else 0

    def _socket(self) -> socket.socket:
        if self._wanted is not None and self._server is not None and self._server.poll() is None:
            return self._wanted
        self._end_server()
        self._wanted, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._server = subprocess.Popen(
                [sys.executable, "-m", "agentforge.fleet.fork_server", str(other.fileno())],
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                start_new_session=True,
            )
        return self._wanted

    def _end_server(self) -> None:
        if self._wanted is not None:
            self._wanted.close()
        if self._server is not None:
            self._server.wait()
        self._wanted = self._server = None
