"""System calls that no command needs and that lead past the namespaces: a filter as the kernel reads it."""

from __future__ import annotations

import errno
import platform
import socket
import struct
from functools import cache

from agentforge.frozen import dataclass

_LOAD, _EQUAL, _AT_LEAST, _HAS_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
_X32 = 0x40000000
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: type into the user's terminal
_NEW_USER = 0x10000000
"""The bit by which a process asks for a user namespace, in which it would have every capability."""

_VSOCK = 40
"""Reaches the host of a virtual machine past every network namespace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Machine:
    """The numbers of one processor.

    Attributes:
        separating: clone and unshare, whose first argument says which namespaces are made.
        cloning: clone3, whose arguments no filter sees; C libraries take clone where it is missing.
        closed: keyrings, tracing of the kernel, handles of files, rings of calls that no filter sees.
    """

    audit: int
    socket: int
    ioctl: int
    separating: tuple[int, int]
    cloning: int
    closed: tuple[int, ...]


_MACHINES = {
    "x86_64": _Machine(
        audit=0xC000003E, socket=41, ioctl=16, separating=(56, 272), cloning=435,
        closed=(246, 248, 249, 250, 298, 304, 321, 323, 425),
    ),
    "aarch64": _Machine(
        audit=0xC00000B7, socket=198, ioctl=29, separating=(220, 97), cloning=435,
        closed=(104, 217, 218, 219, 241, 265, 280, 282, 425),
    ),
}  # fmt: skip


@cache
def program(*, sockets: str = "any") -> bytes:
    """Build the filter; empty where the processor is not known.

    Args:
        sockets: "any" closes only those that leave a network namespace; "no-unix" also those of services on this machine;
            "none" every kind, for where there is no network namespace. Pairs of sockets always work.
    """
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return b""
    lines = [
        _line(_LOAD, k=_ARCHITECTURE),
        *_refuse_unless_equal(machine.audit, errno.ENOSYS),
        _line(_LOAD, k=_NUMBER),
        _line(_AT_LEAST, k=_X32, no=1),
        _refuse(errno.ENOSYS),
    ]
    for number in machine.closed:
        lines += _refuse_if_equal(number, errno.EPERM)
    lines += [*_refuse_if_equal(machine.cloning, errno.ENOSYS), *_no_user_namespace(machine)]
    lines += _sockets(machine, sockets)
    inner = [_line(_LOAD, k=_SECOND), *(one for call in _TERMINAL_INPUT for one in _refuse_if_equal(call, errno.EPERM))]
    lines += [_line(_EQUAL, k=machine.ioctl, no=len(inner)), *inner, _line(_RETURN, k=_ALLOW)]
    return b"".join(lines)


def _no_user_namespace(machine: _Machine) -> list[bytes]:
    inner = [_line(_LOAD, k=_FIRST), _line(_HAS_BIT, k=_NEW_USER, no=1), _refuse(errno.EPERM), _line(_RETURN, k=_ALLOW)]
    first, second = machine.separating
    return [_line(_EQUAL, k=first, yes=1), _line(_EQUAL, k=second, no=len(inner)), *inner]


def _sockets(machine: _Machine, kind: str) -> list[bytes]:
    if kind == "none":
        return _refuse_if_equal(machine.socket, errno.EACCES)
    families = [_VSOCK, int(socket.AF_UNIX)] if kind == "no-unix" else [_VSOCK]
    inner = [_line(_LOAD, k=_FIRST)]
    for family in families:
        inner += _refuse_if_equal(family, errno.EACCES)
    inner.append(_line(_RETURN, k=_ALLOW))
    return [_line(_EQUAL, k=machine.socket, no=len(inner)), *inner]


def _line(code: int, *, k: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("<HBBI", code, yes, no, k)


def _refuse(number: int) -> bytes:
    return _line(_RETURN, k=_ERRNO | number)


def _refuse_if_equal(value: int, number: int) -> list[bytes]:
    return [_line(_EQUAL, k=value, no=1), _refuse(number)]


def _refuse_unless_equal(value: int, number: int) -> list[bytes]:
    return [_line(_EQUAL, k=value, yes=1), _refuse(number)]
