"""Things that are kept for later."""

import time
from collections.abc import Callable


class Cache:
    """Keeps values for ever."""

    def __init__(self) -> None:
        self._values: dict[str, object] = {}

    def set(self, key: str, value: object) -> None:
        """Keep a value."""
        self._values[key] = value

    def get(self, key: str) -> object:
        """Give the value, None when there is none."""
        return self._values.get(key)


class ExpiringCache:
    """Keeps each value for some seconds."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._entries: dict[str, tuple[float, object]] = {}

    def set(self, key: str, value: object) -> None:
        """Keep a value from now on."""
        self._entries[key] = (self._clock(), value)

    def get(self, key: str) -> object:
        """Give the value, None when there is none or when it has expired."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        since, value = entry
        if self._clock() - since >= self._seconds:
            del self._entries[key]
            return None
        return value
