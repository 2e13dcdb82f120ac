"""A process that has imported the program and forks for every command line: what a start costs is paid once.

`python warm_server.py SOCKET` listens there until its standard input is closed. A request is one JSON object with the command's
arguments, folder and environment, and the descriptors of its standard streams; the answer is the number of its process, then, when
it has ended, its exit status and the modules that it had to import, which are imported here before the next command.
"""

from __future__ import annotations

import array
import atexit
import gc
import importlib
import io
import json
import os
import runpy
import select
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

_HEAD = 4
_STREAMS = 3


def main(path: str) -> int:
    """Serve until nobody holds the other end of the standard input."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    poll = select.poll()
    poll.register(0, select.POLLIN | select.POLLHUP)
    poll.register(listener, select.POLLIN)
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == 0:
                return 0
            if descriptor == listener.fileno():
                connection, _ = listener.accept()
                pid = _fork(connection, listener)
                watch = os.pidfd_open(pid)
                running[watch] = pid, connection
                poll.register(watch, select.POLLIN)
            else:
                poll.unregister(descriptor)
                pid, connection = running.pop(descriptor)
                os.close(descriptor)
                _, status = os.waitpid(pid, 0)
                _tell(connection, {"code": os.waitstatus_to_exitcode(status)})
                connection.close()


def _fork(connection: socket.socket, listener: socket.socket) -> int:
    """Take one request and begin it in a process of its own."""
    request, streams = _taken(connection)
    for name in request.pop("known"):
        _import(name)
    gc.freeze()
    pid = os.fork()
    if pid == 0:
        listener.close()
        _become(request, streams, connection)
    for stream in streams:
        os.close(stream)
    _tell(connection, {"pid": pid})
    return pid


def _taken(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    room = socket.CMSG_LEN(_STREAMS * array.array("i").itemsize)
    head, ancillary, _, _ = connection.recvmsg(_HEAD, room)
    streams = array.array("i")
    streams.frombytes(ancillary[0][2])
    left, parts = int.from_bytes(head, "big"), []
    while left:
        parts.append(connection.recv(left))
        left -= len(parts[-1])
    return json.loads(b"".join(parts)), list(streams)


def _tell(connection: socket.socket, value: dict[str, Any]) -> None:
    try:
        connection.sendall(json.dumps(value).encode() + b"\n")
    except OSError:  # whoever asked has given up waiting
        return


def _import(name: str) -> None:
    """Import what commands before had to; what cannot be imported by its name alone is left to them."""
    if name not in sys.modules:
        try:
            importlib.import_module(name)
        except Exception:
            return


def _become(request: dict[str, Any], streams: list[int], connection: socket.socket) -> None:
    """Be a process that was started with this command line."""
    os.setpgid(0, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    sys.path[0] = request["cwd"]
    sys.argv = ["agentforge", *request["arguments"]]
    _renew_streams()
    before = set(sys.modules)
    code = _run()
    threading._shutdown()  # type: ignore[attr-defined] # as the interpreter does: waits for threads that are no daemons
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 120  # as the interpreter does
    _tell(connection, {"imported": [name for name in sys.modules if name not in before and _is_installed(name)]})
    os._exit(code)


def _run() -> int:
    try:
        runpy.run_module("agentforge", run_name="__main__", alter_sys=True)
    except SystemExit as exc:
        if exc.code is None or isinstance(exc.code, int):
            return int(exc.code or 0) & 0xFF
        sys.stderr.write(f"{exc.code}\n")
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        return 1
    return 0


def _renew_streams() -> None:
    """Give the process text streams as the interpreter makes them, over what now are its descriptors 0 to 2."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        raw = open(number, "wb" if number else "rb", closefd=False)  # noqa: SIM115 - lives as long as the process
        made = io.TextIOWrapper(raw, old.encoding, old.errors, line_buffering=number == 2)
        setattr(sys, name, made)
        setattr(sys, f"__{name}__", made)


def _is_installed(name: str) -> bool:
    """Whether a module is a file of the program, of a library or of Python, and none of the project that was worked on."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    if spec is None or spec.name != name or name.endswith("__main__"):
        return False
    return bool(spec.origin) and spec.origin.startswith(_PLACES)


_PROGRAM = Path(importlib.import_module("agentforge").__path__[0]).parent
_PLACES = tuple(f"{Path(place).resolve()}{os.sep}" for place in (sys.prefix, sys.base_prefix, _PROGRAM))

if __name__ == "__main__":
    sys.path[0] = ""
    sys.exit(main(sys.argv[1]))
