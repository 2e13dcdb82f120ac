"""What a turn changed, and what was run behind its last change: with it a turn in build mode ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.safety.policy.decision import decide_command
from agentforge.safety.shell.programs.classes import CommandClass

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop

_CHECKING = (CommandClass.TEST, CommandClass.BUILD, CommandClass.RUN, CommandClass.UNKNOWN)
_SHOWN = 8


class TurnWork:
    """Listens to a session and keeps what the turn that goes on, or went on last, did.

    Attributes:
        changed: paths of files, in the order in which they were changed first.
        checked: commands that ran something of the project behind the last change, with how they ended.
    """

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._command = ""
        self.changed: tuple[str, ...] = ()
        self.checked: tuple[str, ...] = ()

    def heard(self, event: Event, _state: RunState) -> None:
        """Take note of an event."""
        if isinstance(event, kinds.UserSaid):
            self.changed, self.checked = (), ()
        elif isinstance(event, kinds.ToolStarted):
            self._command = self._checking(event)
        elif isinstance(event, kinds.BackgroundStarted):  # it goes on: nobody knows yet how it ends
            self._command = ""
        elif isinstance(event, kinds.ToolFinished):
            if event.changed:
                self.changed = tuple(dict.fromkeys((*self.changed, *event.changed)))
                self.checked = ()
            if self._command:
                how = event.summary.removeprefix(self._command).lstrip(": ") or event.status
                self.checked = (*self.checked, f"{self._command} ({how[:120]})")
            self._command = ""

    def lines(self) -> tuple[str, ...]:
        """For people: the files, and by what they are checked; () where nothing was changed."""
        if not self.changed:
            return ()
        more = f" and {len(self.changed) - _SHOWN} more" if len(self.changed) > _SHOWN else ""
        checked = "; ".join(self.checked[-3:]) if self.checked else "nothing was run after the last change"
        return (f"Changed: {', '.join(self.changed[:_SHOWN])}{more}", f"Checked: {checked}")

    def _checking(self, event: kinds.ToolStarted) -> str:
        """The command of a call that runs tests or programs, on one line; "" for every other call."""
        line = str(event.arguments.get("command", ""))
        if event.name != "shell" or event.arguments.get("background"):
            return ""
        parts = decide_command(line, self._workshop.policy()).parts
        if not any(part.kind in _CHECKING for part in parts):
            return ""
        return " ".join(self._workshop.scrubbed(line).split())[:160]
