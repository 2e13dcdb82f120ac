"""The ways to people, made from the `[notify]` settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, cast

from agentforge.notify.command import CommandChannel
from agentforge.notify.desktop import Desktop
from agentforge.notify.services import Service
from agentforge.notify.webhook import Webhook

if TYPE_CHECKING:
    from agentforge.notify.message import NotifyMessage


class Notifier(Protocol):
    """One way to people."""

    @property
    def channel(self) -> str:
        """Its name in records; holds no address and no secret."""

    def send(self, message: NotifyMessage) -> None:
        """Send a message.

        Raises:
            ToolchainError, UsageError: it was not taken; the words hold no secret of the settings.
        """


def notifiers(table: Mapping[str, object], environ: Mapping[str, str]) -> list[Notifier]:
    """Make every way that the settings name; none is opened yet."""
    found: list[Notifier] = []
    if table.get("webhook"):
        variable = str(table.get("webhook_secret", ""))
        found.append(Webhook(str(table["webhook"]), secret=environ.get(variable, ""), variable=variable))
    if table.get("desktop"):
        found.append(Desktop(environ))
    if table.get("command"):
        found.append(CommandChannel(tuple(cast("list[str]", table["command"])), environ))
    for number, url in enumerate(cast("list[str]", table.get("urls", [])), start=1):
        found.append(Service(url, number=number))
    return found
