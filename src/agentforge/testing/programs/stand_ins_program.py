"""Puts other circumstances in the place of what the machine would tell; its text stands before that of `replay_program.py`."""

# Plain strings for paths: pathlib is more code that a project could replace.
# ruff: noqa: PTH118
from __future__ import annotations

import importlib
import os
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_BUSY = 48_000  # process numbers of a machine that has been up for a while
_RUNNERS = ("unittest", "pytest", "_pytest", "_pytest.assertion.rewrite")


def _stand_in(run: dict[str, Any]) -> None:
    """Put other circumstances in the place of what the machine would tell."""
    import random

    random.seed(run["seed"])
    if run["clock_s"]:
        _move_clock(run["clock_s"])
    if run["host"]:
        import platform
        import socket

        for owner, name in ((socket, "gethostname"), (socket, "getfqdn"), (platform, "node")):
            setattr(owner, name, lambda *_, told=run["host"]: told)
        socket.if_nameindex = lambda: [(1, "lo"), (2, "eth0"), (3, "wlan0")]
        for name in ("getpid", "getppid"):
            original = getattr(os, name)
            setattr(os, name, lambda told=original: told() + _BUSY)
    null = os.open(os.devnull, os.O_RDWR)
    if run["terminal"]:
        import pty

        _, terminal = pty.openpty()
        for target in (0, 1, 2):
            os.dup2(terminal, target)
        import termios

        termios.tcflush(terminal, termios.TCIOFLUSH)
    else:
        for target in (0, 1, 2):
            os.dup2(null, target)


def _move_clock(seconds: float) -> None:
    import datetime
    import time as clock

    real, real_ns = clock.time, clock.time_ns

    def moved(name: str) -> Callable[..., Any]:
        original = getattr(clock, name)
        return lambda secs=None: original(clock.time() if secs is None else secs)

    clock.time = lambda: real() + seconds
    clock.time_ns = lambda: real_ns() + int(seconds * 1e9)
    written = clock.strftime
    for name in ("localtime", "gmtime", "ctime"):
        setattr(clock, name, moved(name))
    clock.strftime = lambda form, when=None: written(form, clock.localtime() if when is None else when)

    plain_date, plain_datetime = datetime.date, datetime.datetime

    class _OfDates(type):
        def __instancecheck__(cls, one: Any) -> bool:
            return isinstance(one, plain_datetime if cls.__name__ == "datetime" else plain_date)

    class _Date(plain_date, metaclass=_OfDates):  # type: ignore[misc, valid-type]  # a variable keeps the real one
        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(clock.time())

    class _DateTime(plain_datetime, metaclass=_OfDates):  # type: ignore[misc, valid-type]  # as above
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(clock.time(), tz)

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(clock.time())

        @classmethod
        def utcnow(cls) -> Any:
            parts = clock.gmtime(clock.time())  # interpreters before 3.11 have no datetime.UTC
            return cls(*parts[:6])

    _Date.__name__ = _Date.__qualname__ = "date"
    _DateTime.__name__ = _DateTime.__qualname__ = "datetime"
    datetime.date, datetime.datetime = _Date, _DateTime  # type: ignore[misc]  # that is the purpose


def _in_a_test(root: str) -> str:
    """Let the process look as if a test runner had called; nothing that a program may be given (arguments, folder, home) differs.

    Returns:
        the file in which the calls stand.
    """
    path = os.path.join(root, "tests", "test_it.py")
    os.environ["PYTEST_CURRENT_TEST"] = "tests/test_it.py::test_it (call)"
    os.environ["PYTEST_VERSION"] = "8"
    for name in _RUNNERS:
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = types.ModuleType(name)
    sys.modules["test_it"] = types.ModuleType("test_it")
    return path
