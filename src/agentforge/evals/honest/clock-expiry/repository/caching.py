"""Things that are kept for later."""


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
