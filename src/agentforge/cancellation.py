"""Stopping work, by another thread or by the clock: what blocks says how it is woken, and ends as Ctrl-C would have ended it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, Lock, Timer


class TimeIsUp(Exception):
    """What was allowed so many seconds was stopped."""


class Cancellation:
    """One stop sign. `cancel` may be called from any thread; who works under it meets KeyboardInterrupt."""

    def __init__(self) -> None:
        self.cancelled = False
        self._lock = Lock()
        self._wakes: list[Callable[[], None]] = []

    def cancel(self) -> None:
        """Stop what goes on under this sign, and whatever begins under it later."""
        with self._lock:
            self.cancelled = True
            wakes = list(self._wakes)
        for wake in wakes:
            wake()

    def add(self, wake: Callable[[], None]) -> None:
        """Call `wake` when the sign is raised; at once when it stands already."""
        with self._lock:
            self._wakes.append(wake)
            now = self.cancelled
        if now:
            wake()

    def remove(self, wake: Callable[[], None]) -> None:
        """Forget `wake`."""
        with self._lock:
            self._wakes.remove(wake)


_current: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


@contextmanager
def under(sign: Cancellation) -> Iterator[Cancellation]:
    """Work under a stop sign; threads inherit it by `contextvars.copy_context`."""
    token = _current.set(sign)
    try:
        yield sign
    finally:
        _current.reset(token)


@contextmanager
def interruptible(wake: Callable[[], None]) -> Iterator[None]:
    """Something that blocks: `wake` ends it from another thread.

    Raises:
        KeyboardInterrupt: the sign was raised before or meanwhile.
    """
    sign = _current.get()
    if sign is None:
        yield
        return
    check()
    sign.add(wake)
    try:
        yield
    except Exception:
        check()  # what broke because it was woken was stopped, not broken
        raise
    finally:
        sign.remove(wake)
    check()


@contextmanager
def for_at_most(seconds: float | None) -> Iterator[None]:
    """Work that is stopped when it takes longer; None = it may take as long as it likes.

    Raises:
        TimeIsUp: it did.
    """
    if seconds is None:
        yield
        return
    sign, is_up = Cancellation(), Event()

    def end() -> None:
        is_up.set()
        sign.cancel()

    clock = Timer(seconds, end)
    clock.daemon = True
    clock.start()
    try:
        with interruptible(sign.cancel), under(sign):
            yield
    except KeyboardInterrupt:
        if is_up.is_set():
            raise TimeIsUp from None
        raise
    finally:
        clock.cancel()


def pause(seconds: float) -> None:
    """Wait; a raised sign ends it.

    Raises:
        KeyboardInterrupt: the sign was raised.
    """
    woken = Event()
    with interruptible(woken.set):
        woken.wait(seconds)


def check() -> None:
    """Stop here if the sign was raised.

    Raises:
        KeyboardInterrupt: it was.
    """
    sign = _current.get()
    if sign is not None and sign.cancelled:
        raise KeyboardInterrupt
