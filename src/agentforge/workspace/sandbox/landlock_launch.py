"""Started as a program of its own: shuts itself in (namespaces, Landlock, a filter of system calls), then runs a command.

`landlock_launch.py SPECIFICATION COMMAND [ARGUMENT ...]`; the specification is JSON, written by `landlock.py`. A byte on the
descriptor that it names says that everything holds and the command starts.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
from typing import Any

from landlockpy import AccessFS, AccessNet, Ruleset, Scope, abi_version, fs_for_abi, scope_for_abi

_NEW_USER, _NEW_NET, _NEW_PID, _NEW_IPC = 0x10000000, 0x40000000, 0x20000000, 0x08000000
_DEATH_SIGNAL, _DROP_BOUNDING, _SUBREAPER, _NO_NEW_PRIVILEGES, _SECCOMP = 1, 24, 36, 38, 22
_READ = AccessFS.READ_FILE | AccessFS.READ_DIR | AccessFS.EXECUTE
_ON_FILES = AccessFS.READ_FILE | AccessFS.EXECUTE | AccessFS.WRITE_FILE | AccessFS.TRUNCATE | AccessFS.IOCTL_DEV
_MADE_NEVER = AccessFS.MAKE_CHAR | AccessFS.MAKE_BLOCK
_SIGNALLED = 128

_libc = ctypes.CDLL(None, use_errno=True)


def main(argv: list[str]) -> int:
    """Run the command and give its exit code; 128 + N when signal N ended it."""
    spec, command = json.loads(argv[0]), argv[1:]
    os.read(spec["gate"], 1)  # until we are in the control group
    os.close(spec["gate"])
    alone = _separate(network=bool(spec["network"]))
    if not alone and not spec["network"]:
        spec["filter"] = spec["filter_without_namespace"]
        if not spec["filter"]:
            raise OSError("the network cannot be closed: no namespaces, and no filter for this processor")
    _call("prctl", _SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if child == 0:
        _call("prctl", _DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        _shut_in(spec)
        os._exit(_as_first(spec, command))
    signal.signal(signal.SIGTERM, lambda _number, _frame: os.kill(child, signal.SIGKILL))
    code = _exit_code(_awaited(child))
    _end_all()
    return code


def _separate(*, network: bool) -> bool:
    """Leave the network, the processes and the shared memory of the machine; whether that was possible."""
    flags = _NEW_PID | _NEW_IPC | (0 if network else _NEW_NET)
    if _libc.unshare(flags) != 0:
        # There is no way back out of a user namespace whose numbers cannot be mapped: a child tries first.
        trial = os.fork()
        if trial == 0:
            os._exit(0 if _as_user(flags) else 1)
        if os.waitpid(trial, 0)[1] != 0 or not _as_user(flags):
            return False
    if not network:
        _loopback_up()
    return True


def _as_user(flags: int) -> bool:
    """Make the namespaces inside a user namespace, where this process keeps its own numbers."""
    user, group = os.getuid(), os.getgid()
    if _libc.unshare(flags | _NEW_USER) != 0:
        return False
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 # a program of its own, started for each command
                file.write(text)
    except OSError:
        return False
    return True


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 1 | 64))  # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING


def _shut_in(spec: dict[str, Any]) -> None:
    for name, value in spec["limits"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name.upper()}"), (value, value))
    _drop_capabilities()
    _call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    abi = abi_version()
    rights = fs_for_abi(abi)
    scoped = scope_for_abi(abi) & (Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET)
    with Ruleset(handled_fs=rights, handled_net=AccessNet.NONE, scoped=scoped) as rules:
        for path in spec["readable"]:
            _allow(rules, path, _READ & rights)
        for path in spec["writable"]:
            _allow(rules, path, rights & ~_MADE_NEVER)
        rules.restrict()
    _filter(bytes.fromhex(spec["filter"]))


def _allow(rules: Ruleset, path: str, rights: AccessFS) -> None:
    try:
        rules.allow_path(path, rights if os.path.isdir(path) else rights & _ON_FILES)  # noqa: PTH112
    except (FileNotFoundError, PermissionError):
        return  # what is not there, or closed to us already, needs no rule


def _drop_capabilities() -> None:
    for number in range(64):
        if _libc.prctl(_DROP_BOUNDING, number, 0, 0, 0) != 0:
            break
    header = struct.pack("Ii", 0x20080522, 0)
    _call("capset", ctypes.create_string_buffer(header), ctypes.create_string_buffer(24))


def _filter(program: bytes) -> None:
    if not program:
        return
    lines = ctypes.create_string_buffer(program, len(program))
    given = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(lines))
    _call("prctl", _SECCOMP, 2, ctypes.create_string_buffer(given), 0, 0)


def _as_first(spec: dict[str, Any], command: list[str]) -> int:
    """Start the command and reap everything until it has ended; as the first process our end is the end of all."""
    child = os.fork()
    if child == 0:
        os.write(spec["status"], b"1")
        os.close(spec["status"])
        try:
            os.execvp(command[0], command)
        except OSError as exc:
            sys.stderr.write(f"{command[0]}: {exc.strerror}\n")
            sys.stderr.flush()
            os._exit(127 if isinstance(exc, FileNotFoundError) else 126)
    return _exit_code(_awaited(child))


def _awaited(child: int) -> int:
    while True:
        pid, status = os.wait()
        if pid == child:
            return status


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else _SIGNALLED - code


def _end_all() -> None:
    """Kill what the command left behind; without a process namespace it has become our child."""
    while True:
        with open("/proc/thread-self/children") as file:  # noqa: PTH123
            left = file.read().split()
        if not left:
            return
        for pid in left:
            os.kill(int(pid), signal.SIGKILL)
            os.waitpid(int(pid), 0)


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
