"""What goes on inside of long work: told where it happens, heard by the face that watches. Nothing of it is recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Underway:
    """A piece of work that goes on.

    Attributes:
        what: in words: "the whole suite before the change".
        done, of: how many tests or mutants are behind it, and how many there are; of = 0: not known.
        unit: what is counted; "" = nothing was counted yet.
        usual_s: how long it took the last time; 0 = not known.
    """

    what: str
    done: int = 0
    of: int = 0
    unit: str = ""
    usual_s: float = 0.0


Listener = Callable[[Underway | None], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_now: ContextVar[Underway | None] = ContextVar("underway", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Let somebody hear what is told in this context; None tells that nothing long goes on any more."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def underway(what: str, *, usual_s: float = 0.0) -> Iterator[None]:
    """Tell that a piece of work begins, and when it is over; inside of another one the inner one is told."""
    tell = _listener.get()
    if tell is None:
        yield
        return
    token = _now.set(Underway(what=what, usual_s=usual_s))
    tell(_now.get())
    try:
        yield
    finally:
        _now.reset(token)
        tell(_now.get())


def counter(unit: str) -> Callable[[int, int], None]:
    """A function that tells how far the present work is: (done, of). Any thread may call it."""
    tell, now = _listener.get(), _now.get()

    def count(done: int, of: int) -> None:
        if tell is not None and now is not None:
            tell(Underway(what=now.what, usual_s=now.usual_s, done=done, of=of, unit=unit))

    return count
