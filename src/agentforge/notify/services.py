"""A message to one of the services that apprise knows; one address, one way, so that one that fails repeats no other."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from agentforge.errors import ToolchainError, UsageError
from agentforge.installation import command_for

if TYPE_CHECKING:
    from agentforge.notify.message import NotifyMessage


class Service:
    """One address of apprise; it may hold a password and is shown nowhere."""

    def __init__(self, url: str, *, number: int) -> None:
        self._url = url
        self._channel = f"apprise:{url.partition(':')[0][:20]}#{number}"

    @property
    def channel(self) -> str:
        """The kind of service and its place in the settings."""
        return self._channel

    def send(self, message: NotifyMessage) -> None:
        """Send a message.

        Raises:
            UsageError: apprise does not know such an address.
            ToolchainError: apprise is not installed, or the service did not take it.
        """
        try:
            import apprise
        except ImportError as exc:
            hint = command_for("notify")
            raise ToolchainError("apprise is not installed", hint=hint) from exc
        logging.getLogger("apprise").addHandler(logging.NullHandler())  # it would print addresses
        service = apprise.Apprise(asset=apprise.AppriseAsset(async_mode=False))
        if not service.add(self._url):
            raise UsageError(f"apprise knows no address such as {self._channel}", hint="correct notify.urls")
        if not service.notify(title=message.title, body=message.body, body_format=apprise.NotifyFormat.TEXT):
            raise ToolchainError(f"{self._channel} did not take the message", hint="try: agentforge notify --test")
