"""Formats of files."""


class Format:
    """A format; subclasses say how it is written."""

    def write(self, rows: list[list[str]]) -> str:
        """Write rows as a text."""
        raise NotImplementedError
