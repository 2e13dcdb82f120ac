"""Notices to users."""

from typing import Protocol


class Sender(Protocol):
    """Something that sends a text to an address."""

    def send(self, address: str, text: str) -> None:
        """Send a text."""


def greeting(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"
