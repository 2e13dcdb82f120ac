"""Forks the processes that drive runs, for a worker: `python -m agentforge.fleet.fork_server DESCRIPTOR`.

A process that starts anew spends more on imports than most runs spend on anything else. This one has imported the program before;
what a run had to import in addition is imported here before the next one. It has one thread, and opens and drives nothing itself.

The descriptor is one end of a socket. Each message is a JSON list, the arguments of a run, with two descriptors: where the run's
errors are written, and a pipe that is told `PID`, and at the end the exit code as `subprocess` knows it, each on a line of its
own. When the worker is gone, so is the other end of the socket; this process then ends, and the kernel ends its children.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from itertools import chain

from agentforge.fleet import drive

MESSAGE_BYTES = 65_536
_OURS = "agentforge."


@dataclass(slots=True, kw_only=True)
class _Child:
    """A run that is driven: the pipe that is told of it, and the one that it tells what it had to import."""

    told: int
    imported: int


@dataclass(slots=True)
class ForkServer:
    """The server: what it was asked for comes from `wanted`."""

    wanted: socket.socket
    _children: dict[int, _Child] = field(default_factory=dict)
    _missed: set[str] = field(default_factory=set)

    def serve(self) -> list[str] | None:
        """Fork until the worker is gone.

        Returns:
            In a child: the arguments of its run, and the process above; in the server, at its end: None.
        Side effects: the signal handler of SIGCHLD; imports.
        """
        gc.disable()  # what was imported stays, and children share its pages while nobody writes to them
        signal.signal(signal.SIGCHLD, self._bury)
        while True:
            message, descriptors, _, _ = socket.recv_fds(self.wanted, MESSAGE_BYTES, 2)
            if not message:
                return None
            self._import_missed()
            gc.freeze()
            arguments = self._forked(json.loads(message), *descriptors)
            if arguments is not None:
                return arguments

    def _forked(self, arguments: list[str], errors: int, told: int) -> list[str] | None:
        server, known = os.getpid(), frozenset(sys.modules)
        imported, imports = os.pipe()
        os.set_blocking(imports, False)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})  # a child may end before it is entered here
        pid = os.fork()
        if pid:
            self._children[pid] = _Child(told=told, imported=imported)
            os.close(errors)
            os.close(imports)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            return None
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.setsid()
        drive.die_with_parent(server)
        _tell(told, os.getpid())
        os.dup2(errors, sys.stderr.fileno())
        for descriptor in (errors, told, imported, *chain.from_iterable(map(astuple, self._children.values()))):
            os.close(descriptor)
        self.wanted.close()
        gc.enable()
        atexit.register(_tell_imports, imports, known)
        return [*arguments, str(server)]

    def _bury(self, _number: int, _frame: object) -> None:
        """Say how children ended, while their numbers are still theirs, and let them go."""
        while self._children:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None:
                return
            child = self._children.pop(ended.si_pid)
            _tell(child.told, ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status)
            os.close(child.told)
            with os.fdopen(child.imported, encoding="utf-8") as names:
                self._missed.update(names.read().split())
            os.waitpid(ended.si_pid, 0)

    def _import_missed(self) -> None:
        missed, self._missed = sorted(self._missed), set()
        for name in missed:
            with suppress(ImportError):
                importlib.import_module(name)


def _tell_imports(pipe: int, known: frozenset[str]) -> None:
    """Say what was imported since the fork; what the pipe does not hold is left out, and imported by the next run once more."""
    names = [name for name in list(sys.modules) if name.startswith(_OURS) and name not in known]
    with suppress(BlockingIOError):
        os.write(pipe, " ".join(names).encode())


def _tell(pipe: int, number: int) -> None:
    with suppress(BrokenPipeError):  # the worker is gone: the socket says so next
        os.write(pipe, f"{number}\n".encode())


def main() -> int:
    """Serve; in a child, drive its run.

    Returns:
        The exit code.
    """
    arguments = ForkServer(socket.socket(fileno=int(sys.argv[1]))).serve()
    return 0 if arguments is None else drive.main(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
