"""Who hears what a model thinks while it thinks. The recorded reply holds all of it; this is for those who watch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("thinking", default=None)


@contextmanager
def thinking_heard(listener: Callable[[str], None] | None) -> Iterator[None]:
    """Let `listener` hear the thinking of every model that is asked meanwhile in this thread; it must not block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def think_aloud(text: str) -> None:
    """Tell whoever listens a piece of what the model thinks."""
    listener = _listener.get()
    if text and listener is not None:
        listener(text)
