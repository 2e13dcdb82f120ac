"""Notes that people take."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """A note with its title and its text."""

    title: str
    body: str
