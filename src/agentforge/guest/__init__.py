"""Agents of other makers as guests: spoken to by the Agent Client Protocol, behind our walls, within limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.guest.choice import CALLS, TIMEOUT_S, GuestChoice
    from agentforge.guest.conversation import Terms
    from agentforge.guest.host import host_guest
    from agentforge.guest.report import GuestReport
else:
    __getattr__ = front(
        __name__,
        {
            "choice": ("CALLS", "TIMEOUT_S", "GuestChoice"),
            "conversation": ("Terms",),
            "host": ("host_guest",),
            "report": ("GuestReport",),
        },
    )

__all__ = ["CALLS", "TIMEOUT_S", "GuestChoice", "GuestReport", "Terms", "host_guest"]
