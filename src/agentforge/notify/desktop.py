"""A message on the user's own screen, by notify-send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentforge.errors import ToolchainError
from agentforge.workspace.processes.process import run

if TYPE_CHECKING:
    from agentforge.notify.message import NotifyMessage

_TIMEOUT_S = 5.0
_SEEN = ("PATH", "HOME", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")


class Desktop:
    """Shows messages; a question stays until it is closed."""

    channel = "desktop"

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = {name: environ[name] for name in _SEEN if name in environ}

    def send(self, message: NotifyMessage) -> None:
        """Show a message.

        Raises:
            ToolchainError: notify-send is missing, or there is no desktop.
        """

        urgency = "critical" if message.commands else "normal"
        argv = ["notify-send", "--app-name=AgentForge", f"--urgency={urgency}", "--", message.title, message.body]
        done = run(argv, cwd=None, env=self._environ, timeout_s=_TIMEOUT_S)
        if done.exit_code != 0:
            raise ToolchainError(f"notify-send failed ({done.exit_code}): {done.text.strip()[:200]}")
