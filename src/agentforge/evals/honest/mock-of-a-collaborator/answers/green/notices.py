"""Notices to users."""

from typing import Protocol


class Sender(Protocol):
    """Something that sends a text to an address."""

    def send(self, address: str, text: str) -> None:
        """Send a text."""


def greeting(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


def notify_all(users: list[dict[str, str]], sender: Sender) -> int:
    """Greet every user that has an address and tell how many were greeted."""
    reachable = [user for user in users if user.get("address")]
    for user in reachable:
        sender.send(user["address"], greeting(user["name"]))
    return len(reachable)
