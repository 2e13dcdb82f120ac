"""Formats of files."""

from typing import ClassVar

class Format:
    """A format; subclasses say how it is written, and register themselves by their suffix."""

    _by_suffix: ClassVar[dict[str, type["Format"]]] = {}

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        suffix = cls.__dict__.get("suffix")
        if suffix:
            Format._by_suffix[suffix] = cls

    @staticmethod
    def for_suffix(suffix: str) -> type["Format"]:
        """Give the format of a suffix; raises KeyError when there is none."""
        return Format._by_suffix[suffix]

    def write(self, rows: list[list[str]]) -> str:
        """Write rows as a text."""
        raise NotImplementedError
