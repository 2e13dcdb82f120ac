"""Notes that people take."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """A note with its title, its text and the words that it is found by."""

    title: str
    body: str
    tags: tuple[str, ...] = ()
