"""Runs inside the sandbox and tries to get out; prints what came of it as JSON. Standard library only, no import of ours."""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import json
import mmap
import os
import pathlib
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

_MANY_THREADS = 6000
_MUCH_MEMORY_BYTES = 9 << 30
_NEW_USER = 0x10000000
_OF_THE_KERNEL = ("/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/sysrq-trigger", "/proc/mtrr")
_KEYCTL = {"x86_64": 250, "aarch64": 219}


def main(plan: dict[str, Any]) -> None:
    """Try everything that the plan names; a value is "" where nothing was gained, else what was."""
    attempts: dict[str, Callable[[], str]] = {
        "home": lambda: _read(plan["home_file"]),
        "secret": lambda: _read(plan["secret_file"]),
        "outside": lambda: _write(plan["outside_file"]),
        "hook": lambda: _write(".git/hooks/pre-commit"),
        "config": lambda: _append(".envrc"),
        "nested": lambda: _write("sub/.git/hooks/pre-commit"),
        "tcp": lambda: _connect(socket.AF_INET, ("127.0.0.1", plan["tcp_port"])),
        "udp": lambda: _datagram(plan["udp_port"]),
        "dns": _resolve,
        "vsock": lambda: _connect(40, (2, 1)),
        "socket": lambda: _connect(socket.AF_UNIX, plan["socket"]),
        "abstract": lambda: _connect(socket.AF_UNIX, "\0" + plan["abstract"]),
        "services": _services,
        "environ": lambda: _seen("environ", plan["environ_digest"]),
        "processes": lambda: _seen("cmdline", plan["cmdline_digest"]),
        "signal": lambda: _signal(plan["parent"], plan["cmdline_digest"]),
        "keyring": _keyring,
        "terminal": _terminal,
        "kernel": _kernel,
        "namespace": _namespace,
        "memory": _memory,
        "threads": _threads if plan["bomb"] else str,
    }
    found = {}
    for name, attempt in attempts.items():
        try:
            found[name] = attempt()
        except (OSError, ValueError, OverflowError) as exc:
            found[name] = ""
            found[f"{name}-refused"] = str(exc)
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    os._exit(0)


def _read(path: str) -> str:
    data = pathlib.Path(path).read_bytes()
    return f"read {len(data)} bytes" if data else ""


def _write(path: str) -> str:
    place = pathlib.Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("escaped\n")
    return "written"


def _append(path: str) -> str:
    with pathlib.Path(path).open("a") as file:
        file.write("escaped\n")
    return "written"


def _connect(family: int, address: Any) -> str:
    with socket.socket(family) as client:
        client.settimeout(1)
        client.connect(address)
    return "connected"


def _datagram(port: int) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"escaped", ("127.0.0.1", port))
    return ""  # the receiver knows


def _resolve() -> str:
    return "resolved" if socket.getaddrinfo("example.com", 443) else ""


def _services() -> str:
    places = [
        "/run/docker.sock",
        "/var/run/docker.sock",
        "/run/containerd/containerd.sock",
        "/run/dbus/system_bus_socket",
    ]
    places += [f"/run/user/{os.getuid()}/bus", os.environ.get("SSH_AUTH_SOCK", "")]
    return ", ".join(place for place in places if place and pathlib.Path(place).exists())


def _seen(file: str, digest: str) -> str:
    """Look for the harness among all processes: its number may be that of another process in here."""
    for path in pathlib.Path("/proc").glob(f"[0-9]*/{file}"):
        try:
            data = path.read_bytes()
        except OSError:
            continue
        if hashlib.sha256(data).hexdigest() == digest:
            return f"{path} is that of the harness"
    return ""


def _signal(pid: int, digest: str) -> str:
    try:
        other = hashlib.sha256(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()).hexdigest() != digest
    except OSError:
        other = False
    if other:
        return ""
    os.kill(pid, signal.SIGCONT)
    return "signalled"


def _keyring() -> str:
    number = _KEYCTL.get(os.uname().machine)
    libc = ctypes.CDLL(None, use_errno=True)
    if number is None or libc.syscall(number, 0, -3, 0) < 0:  # KEYCTL_GET_KEYRING_ID, session keyring
        return ""
    return "the session's keyring answers"


def _terminal() -> str:
    descriptor = os.open("/dev/tty", os.O_RDWR)
    fcntl.ioctl(descriptor, 0x5412, b"x")  # TIOCSTI
    return "typed into the terminal"


def _kernel() -> str:
    """Open settings of the kernel for writing; nothing is written."""
    opened = []
    for top in _OF_THE_KERNEL:
        inner = [pathlib.Path(folder, name) for folder, _, files in os.walk(top) for name in files]
        for path in inner or [pathlib.Path(top)]:
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK))
            except OSError:
                continue
            opened.append(str(path))
    return f"{opened[0]} and {len(opened) - 1} more could be written" if opened else ""


def _namespace() -> str:
    """Ask for a user namespace in a process of its own."""
    child = os.fork()
    if child == 0:
        os._exit(ctypes.CDLL(None).unshare(_NEW_USER) != 0)
    return "" if os.waitpid(child, 0)[1] else "a user namespace of its own, with every capability in it"


def _memory() -> str:
    with mmap.mmap(-1, _MUCH_MEMORY_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as taken:
        return f"took {len(taken) >> 30} GiB"


def _threads() -> str:
    threading.stack_size(65_536)
    wait = threading.Event()
    for _ in range(_MANY_THREADS):
        try:
            threading.Thread(target=wait.wait, daemon=True).start()
        except RuntimeError:
            return ""
    return f"started {_MANY_THREADS} threads"


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
