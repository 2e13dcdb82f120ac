"""How far a download is, on standard error: how much, how fast, and how long it will still take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import click

_SPAN_S = 10.0
"""Seconds over which the rate is taken, so that a pause or a jump does not make it nonsense."""


class Transfer:
    """One line that changes on a terminal, else a line per tenth.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = ""
        self._marks: list[tuple[float, int]] = []

    def __call__(self, what: str, done: int, size: int) -> None:
        """Tell that `done` of `size` bytes are through what is being done."""
        percent = 100 * done // size if size else 100
        terminal = sys.stderr.isatty()
        if what == "verifying" and not terminal:
            return
        speed = self._speed(what, done)
        line = f"{what} {percent if terminal else percent // 10 * 10} %"
        shown = line if not terminal else f"{line}{int(self._clock())}"
        if shown == self._last:
            return
        self._last = shown
        end = percent == 100 or not terminal
        told = f"{line} of {size / 1e6:,.0f} MB{_pace(speed, size - done)}"
        click.echo(f"\r{told:<72}" if terminal else told, nl=end, err=True)

    def _speed(self, what: str, done: int) -> float:
        """Bytes a second of late; 0 = not yet known."""
        now = self._clock()
        if what == "resuming" or (self._marks and done < self._marks[-1][1]):
            self._marks.clear()
        if not self._marks or now - self._marks[-1][0] >= 0.2:
            self._marks.append((now, done))
        while len(self._marks) > 2 and now - self._marks[1][0] >= _SPAN_S:
            self._marks.pop(0)
        began, before = self._marks[0]
        return (done - before) / (now - began) if now > began else 0.0


def _pace(speed: float, left: int) -> str:
    if speed <= 0 or left <= 0:
        return ""
    seconds = round(left / speed)
    time_left = f"{seconds} s" if seconds < 90 else f"{round(seconds / 60)} min"
    return f", {speed / 1e6:,.1f} MB/s, {time_left} left"
