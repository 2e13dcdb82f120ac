"""Stopping."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

STOP_WORDS = ("quit", "exit")


def means_stop(text: str) -> bool:
    """Tell whether somebody wants to stop."""
    return text.strip().lower() in STOP_WORDS


@dataclass
class Stop:
    """Whether the process was told to stop."""

    stopped: bool = False


@contextmanager
def stop_on_sigterm() -> Iterator[Stop]:
    """Take SIGTERM down instead of dying of it, for a while."""
    stop = Stop()

    def note(_number: int, _frame: object) -> None:
        stop.stopped = True

    before = signal.signal(signal.SIGTERM, note)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGTERM, before)
