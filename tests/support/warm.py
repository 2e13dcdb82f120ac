"""Command lines of the program in processes of their own that need not import it first (see `warm_server.py`)."""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_SERVER = Path(__file__).with_name("warm_server.py")
_IN_A_PIPE = 60_000  # bytes that a pipe takes while nobody reads
_HEAD = 4
_OF_THE_INTERPRETER = ("LC_", "LANG", "PYTHONPYCACHEPREFIX")
"""What an interpreter reads when it starts: commands with the same share a server. With anything else of its own, one is started."""


def run(
    arguments: tuple[str, ...], *, cwd: Path, env: Mapping[str, str], stdin: bytes, timeout_s: float
) -> subprocess.CompletedProcess[bytes]:
    """Run `agentforge ARGUMENTS` to its end.

    Raises:
        TimeoutExpired: it took too long and was killed.
    """
    start = {name: value for name, value in env.items() if name.startswith(_OF_THE_INTERPRETER)}
    special = any(name.startswith(("PYTHON", "LD_")) and name not in start for name in env)
    if special or not hasattr(os, "pidfd_open") or len(stdin) > _IN_A_PIPE:
        command = [sys.executable, "-m", "agentforge", *arguments]
        return subprocess.run(command, cwd=cwd, env=dict(env), input=stdin, capture_output=True, timeout=timeout_s)
    return _server(tuple(sorted(start.items()))).run(arguments, cwd=cwd, env=env, stdin=stdin, timeout_s=timeout_s)


@cache
def _server(start: tuple[tuple[str, str], ...]) -> Server:
    """The server of this process for what an interpreter reads of its environment when it starts."""
    return Server(env=dict(start))


@dataclass
class Server:
    """The other end of `warm_server.py`; it ends with this process, which holds its standard input."""

    env: dict[str, str]
    known: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="agentforge-warm-")
        self._path = str(Path(self._folder.name) / "socket")
        self._process = subprocess.Popen(
            [sys.executable, str(_SERVER), self._path], env={"PATH": os.environ["PATH"], **self.env}, cwd=self._folder.name,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self._process.stdout is not None and self._process.stdin is not None
        atexit.register(self.close)
        assert self._process.stdout.readline() == b"ready\n", "the server of warm processes did not start"

    def close(self) -> None:
        """End the server: it reads to the end of its standard input."""
        with self._process:
            pass  # its pipes are closed, and it is waited for
        self._folder.cleanup()

    @property
    def pid(self) -> int:
        """The number of its process, the parent of every command."""
        return self._process.pid

    def run(
        self, arguments: tuple[str, ...], *, cwd: Path, env: Mapping[str, str], stdin: bytes, timeout_s: float
    ) -> subprocess.CompletedProcess[bytes]:
        """See `run` of the module."""
        out, err = os.memfd_create("out"), os.memfd_create("err")
        reader, writer = os.pipe()
        try:
            os.write(writer, stdin) if stdin else None
            os.close(writer)
            request = {"arguments": arguments, "cwd": str(cwd), "env": dict(env), "known": self.known}
            code = self._asked(request, (reader, out, err), timeout_s)
            self.known += [name for name in code.pop("imported", []) if name not in self.known]
            done = subprocess.CompletedProcess(arguments, code["code"], _all_of(out), _all_of(err))
        finally:
            for descriptor in (reader, out, err):
                os.close(descriptor)
        return done

    def _asked(self, request: dict[str, object], streams: tuple[int, int, int], timeout_s: float) -> dict[str, object]:
        data = json.dumps(request).encode()
        told: dict[str, object] = {}
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(self._path)
            socket.send_fds(connection, [len(data).to_bytes(_HEAD, "big")], list(streams))
            connection.sendall(data)
            with connection.makefile("rb") as answers:
                told.update(json.loads(answers.readline()))
                connection.settimeout(timeout_s)
                try:
                    for line in answers:
                        told.update(json.loads(line))
                except TimeoutError:
                    os.kill(int(str(told["pid"])), signal.SIGKILL)
                    raise subprocess.TimeoutExpired(str(request["arguments"]), timeout_s) from None
        return told


def _all_of(descriptor: int) -> bytes:
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0)
