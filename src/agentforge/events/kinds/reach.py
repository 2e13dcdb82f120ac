"""Events about what left this machine: the run itself, and messages to people. Nothing is decided by them."""

from __future__ import annotations

from typing import Literal

from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunShared(Event):
    """Whether the run reaches its remote has changed; that it goes on reaching it is not recorded again.

    Attributes:
        remote: name of the git remote.
        commit: of the run that the remote holds; "" when it could not be pushed.
        error: why not, secrets redacted; "" when it was pushed.
    """

    remote: str
    commit: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationSent(Event):
    """People were told of something, or it was tried.

    Attributes:
        about: what they were told of: an escalation ("E1") or an end ("delivered", "failed").
        notice: "first", "reminder" or "deadline".
        channel: the notifier, without addresses: apprise | webhook | desktop | command.
        error: why it failed, secrets redacted; "" when it was taken.
    """

    about: str
    notice: Literal["first", "reminder", "deadline"]
    channel: str
    error: str = ""
