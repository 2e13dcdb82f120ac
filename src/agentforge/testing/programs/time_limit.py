"""Stops one test that does not end, so that the others still run: an alarm raises in the code that is running then."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


class DoesNotEnd(BaseException):
    """A test took longer than it may; no ordinary `except` of the project takes this for its own."""


class Alarm:
    """The time limit of the tests of a session, one after the other.

    A project that uses the alarm itself keeps it: then the limit of the whole run is what ends a test.
    """

    def __init__(self, limit_s: float) -> None:
        """Limit each test to so many seconds; 0 = no limit."""
        usable = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        self._limit_s = limit_s if usable else 0.0
        self._armed = False

    def arm(self) -> None:
        """Begin to count for a test."""
        if self._limit_s and signal.getsignal(signal.SIGALRM) in (signal.SIG_DFL, self._stop):
            self._armed = True
            signal.signal(signal.SIGALRM, self._stop)
            signal.setitimer(signal.ITIMER_REAL, self._limit_s)

    def disarm(self) -> None:
        """Stop counting."""
        if self._armed:
            self._armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        if self._armed:
            raise DoesNotEnd(f"does not end: stopped after {self._limit_s:.0f} s")
