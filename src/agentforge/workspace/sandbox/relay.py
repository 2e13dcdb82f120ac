"""Runs inside the sandbox: carries a loopback port to the socket of the proxy outside, then becomes the command.

Started as a file of its own by an interpreter without site packages; it imports nothing but the standard library.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

PORT = 3128
_CHUNK_BYTES = 65_536
_MOST_DESCRIPTORS = 16_384


def main(argv: list[str]) -> None:
    """Listen, leave a child behind that relays, and run the command: `relay.py SOCKET COMMAND [ARGUMENT ...]`."""
    path, command = argv[0], argv[1:]
    listener = socket.create_server(("127.0.0.1", PORT))
    if os.fork() == 0:
        _serve(listener, path)
        os._exit(0)
    listener.close()
    try:
        os.execvp(command[0], command)
    except OSError as exc:
        sys.stderr.write(f"{command[0]}: {exc.strerror}\n")
        os._exit(127 if isinstance(exc, FileNotFoundError) else 126)


def _serve(listener: socket.socket, path: str) -> None:
    # The descriptors of the command are not ours: holding them open would look as if it still ran.
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(quiet, number)
    os.closerange(3, listener.fileno())
    os.closerange(listener.fileno() + 1, _MOST_DESCRIPTORS)
    while True:
        near, _ = listener.accept()
        threading.Thread(target=_carry, args=(near, path), daemon=True).start()


def _carry(near: socket.socket, path: str) -> None:
    far = socket.socket(socket.AF_UNIX)
    try:
        far.connect(path)
    except OSError:
        near.close()
        return
    back = threading.Thread(target=_copy, args=(far, near), daemon=True)
    back.start()
    _copy(near, far)
    back.join()
    near.close()
    far.close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(_CHUNK_BYTES):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:  # one side is gone: the other shall notice
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


if __name__ == "__main__":
    main(sys.argv[1:])
