"""The commands that a session left running in the background: how they are started, told of, and ended with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from agentforge.app.sessions.foreign_text import fit_for_model
from agentforge.events.kinds import BackgroundEnded, Event
from agentforge.session.reach import box_of
from agentforge.workspace.processes.background import BackgroundCommands
from agentforge.workspace.sandbox.loopback import SharedLoopback

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop
    from agentforge.workspace.processes.process import Completed

_LONGEST_COMMAND = 120
_LAST_LINES = 60
_LAST_TOKENS = 1_500


class LeftRunning:
    """What goes on beside the conversation; close it to end it.

    Attributes:
        commands: by name.
        loopback: the network on which they serve and which every other command of the session shares.
    """

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self.commands = BackgroundCommands(self._launched)
        self.loopback = SharedLoopback()

    def _launched(self, command: str, cwd: str, timeout_s: float) -> Completed:

        shop = self._workshop
        box = box_of(shop.root, cwd, writable=True, variables=shop.variables(), loopback=self.loopback, lasting=True)
        return shop.sandbox.run(["bash", "-c", command], box=box, timeout_s=timeout_s)

    def ended(self) -> Iterator[Event]:
        """What is to be recorded of commands that ended since this was asked last."""
        for name, outcome in self.commands.ended().items():
            yield BackgroundEnded(name=name, outcome=outcome, output=self._last_words(name, outcome))

    def _last_words(self, name: str, outcome: str) -> str | None:
        """What a command wrote that nobody has read, its end at least; None of one that was stopped on purpose."""
        if outcome == "stopped":
            return None
        output = self.commands.read(name).output.decode("utf-8", "replace").strip("\n")
        lines = output.splitlines()[-_LAST_LINES:]
        return fit_for_model(self._workshop, "\n".join(lines), most_tokens=_LAST_TOKENS) if lines else ""

    def unread(self) -> dict[str, int]:
        """The commands that wrote something that nobody has read: name -> bytes."""
        return self.commands.unread()

    def close(self) -> tuple[Event, ...]:
        """End all commands; what is to be recorded of it."""
        self.commands.close()
        self.loopback.close()
        return tuple(self.ended())


def situation_of(background: tuple[Mapping[str, object], ...], unread: Mapping[str, int]) -> str:
    """What the model should know of the commands that were left running, "" when there are none.

    Args:
        unread: bytes of output by name that it has not read.
    """
    running = [row for row in background if not row["outcome"]]
    told = [*running, *[row for row in background if row["outcome"]][-2:]]
    if not told:
        return ""
    rows = [
        f"- {row['name']}: {str(row['command'])[:_LONGEST_COMMAND]} ({row['outcome'] or _going_on(row, unread)})"
        for row in told
    ]
    return "\n".join(["Background commands:", *rows])


def _going_on(row: Mapping[str, object], unread: Mapping[str, int]) -> str:
    size = unread.get(str(row["name"]), 0)
    return f"runs; {size:,} bytes of output that you have not read: jobs" if size else "runs"
