"""A message to a program of the user's own: JSON on its standard input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from agentforge.canonical import canonical_bytes
from agentforge.errors import ToolchainError
from agentforge.workspace.processes.process import run

if TYPE_CHECKING:
    from agentforge.notify.message import NotifyMessage

_TIMEOUT_S = 10.0


class CommandChannel:
    """Runs the user's program for every message."""

    channel = "command"

    def __init__(self, argv: tuple[str, ...], environ: Mapping[str, str]) -> None:
        self._argv = argv
        self._environ = environ

    def send(self, message: NotifyMessage) -> None:
        """Run the program; what it prints is shown only when it fails.

        Raises:
            ToolchainError: it is missing, fails, or takes longer than 10 s.
        """

        value = canonical_bytes({**asdict(message), "body": message.body}) + b"\n"
        done = run(self._argv, cwd=None, env=self._environ, timeout_s=_TIMEOUT_S, stdin=value)
        if done.exit_code != 0:
            raise ToolchainError(f"{self._argv[0]} failed ({done.exit_code}): {done.text.strip()[:200]}")
