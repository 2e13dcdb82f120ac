"""The commands that a session left running in the background: how they are started, told of, and ended with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from agentforge.events.kinds import BackgroundEnded, Event
from agentforge.session.reach import box_of
from agentforge.workspace.processes.background import BackgroundCommands
from agentforge.workspace.sandbox.loopback import SharedLoopback

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop
    from agentforge.workspace.processes.process import Completed

_LONGEST_COMMAND = 120


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
            yield BackgroundEnded(name=name, outcome=outcome)

    def close(self) -> tuple[Event, ...]:
        """End all commands; what is to be recorded of it."""
        self.commands.close()
        self.loopback.close()
        return tuple(self.ended())


def situation_of(background: tuple[Mapping[str, object], ...]) -> str:
    """What the model should know of the commands that were left running, "" when there are none."""
    running = [row for row in background if not row["outcome"]]
    told = [*running, *[row for row in background if row["outcome"]][-2:]]
    if not told:
        return ""
    rows = [f"- {row['name']}: {str(row['command'])[:_LONGEST_COMMAND]} ({row['outcome'] or 'runs'})" for row in told]
    return "\n".join(["Background commands:", *rows])
