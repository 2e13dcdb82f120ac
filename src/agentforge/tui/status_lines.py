"""The lines around the input: what goes on, todos, tasks in the background, queued messages, where the session stands."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from agentforge.app.sessions.display import duration_text, telling
from agentforge.events import kinds
from agentforge.events.kinds.event import Event
from agentforge.safety.text.hygiene import clean
from agentforge.tui.looks import Signs

if TYPE_CHECKING:
    from agentforge.app.sessions.background import Job

_TICK_S = 0.25
_TODOS = 7
_MOVABLE = ", ^B to the background"
_ROOM_FOR_BOTH = 60


class Working(Static):
    """What the agent does right now, and for how long; empty while it waits for the person."""

    def __init__(self, signs: Signs) -> None:
        super().__init__("", id="working")
        self._signs = signs
        self._doing = ""
        self._since = 0.0
        self._turn = 0
        self._movable = False

    def on_mount(self) -> None:
        """Tick only while something goes on."""
        self._clock = self.set_interval(_TICK_S, self._draw, pause=True)

    def begin(self, doing: str = "thinks", *, movable: bool = False) -> None:
        """A turn, or a command, begins.

        Args:
            movable: it can be sent to the background.
        """
        self._since, self._doing, self._movable = time.monotonic(), doing, movable
        self._clock.resume()
        self._draw()

    def end(self) -> None:
        """It is over."""
        self._doing = ""
        self._clock.pause()
        self.update("")

    def tell(self, text: str, *, for_s: float) -> None:
        """Say something for a moment, where nothing goes on."""
        if not self._doing:
            self.update(Content.styled(text, "$warning"))
            self.set_timer(for_s, lambda: None if self._doing else self.update(""))

    def wait(self) -> None:
        """Nothing goes on before the person has answered."""
        self._doing, self._movable = "waits for your answer", False

    def writes(self) -> None:
        """Text streams in."""
        self._doing = "writes" if self._doing else ""

    def happened(self, event: Event, *, moves: bool) -> None:
        """Say what goes on after an event.

        Args:
            moves: a command that runs can be sent to the background.
        """
        if isinstance(event, kinds.ModelCalled):
            self._doing, self._movable = "thinks", False
        elif isinstance(event, kinds.ToolStarted):
            self._doing = f"{event.name} {telling(event.arguments)}".strip()
            self._movable = moves and event.name == "shell" and not event.arguments.get("background")
        elif isinstance(event, kinds.ToolFinished):
            self._doing, self._movable = "works", False

    def _draw(self) -> None:
        if not self._doing:
            return
        self._turn += 1
        spin = self._signs["spin"]
        seconds = duration_text(time.monotonic() - self._since)
        tail = f"  {seconds}  Esc stops"
        tail += _MOVABLE if self._movable and self.size.width >= _ROOM_FOR_BOTH else ""
        doing = clean(self._doing)
        room = max(4, self.size.width - len(tail) - 3)
        shown = doing if len(doing) <= room else doing[: room - 1] + self._signs["more"][:1]
        self.update(Content.assemble((f"{spin[self._turn % len(spin)]} ", "bold"), shown, (tail, "$foreground-muted")))


class Todos(Static):
    """The session's todos; shown while some are open, unless the person hid them."""

    def __init__(self, signs: Signs) -> None:
        super().__init__("", id="todos")
        self._signs = signs
        self._hidden = False
        self._rows: list[tuple[str, bool]] = []

    def show(self, todos: Mapping[str, object]) -> None:
        """Show the list as it is now."""
        self._rows = [_todo(value) for value in todos.values()]
        self._draw()

    def flip(self) -> None:
        """Hide or show."""
        self._hidden = not self._hidden
        self._draw()

    def _draw(self) -> None:
        rows = self._rows
        left = [row for row in rows if not row[1]]
        self.set_class(bool(left) and not self._hidden, "shown")
        done = len(rows) - len(left)
        first = max(0, min(done - 2, len(rows) - _TODOS))
        lines = [
            Content.assemble(
                (self._signs["done" if ready else "todo"] + " ", "$success" if ready else "$accent"),
                (clean(text), "$foreground-muted" if ready else ""),
            )
            for text, ready in rows[first : first + _TODOS]
        ]
        head = Content.styled(f"todos: {done} of {len(rows)} done", "$foreground-muted")
        self.update(Content("\n").join([head, *lines]))


class Lines(Static):
    """A few lines that are only there when they say something."""

    def show(self, lines: Sequence[str]) -> None:
        """Show these."""
        self.set_class(bool(lines), "shown")
        self.update(Content("\n".join(clean(line) for line in lines)))


class Parts(Static):
    """Parts of one line, the most important first; what does not fit is left out."""

    def __init__(self, signs: Signs, *parts: str, id: str) -> None:  # noqa: A002 - as Textual names it
        super().__init__("", id=id)
        self._signs = signs
        self._parts = parts

    def show(self, *parts: str) -> None:
        """Show these."""
        self._parts = parts
        self._draw()

    def on_resize(self) -> None:
        """Fit again."""
        self._draw()

    def _draw(self) -> None:
        dot = f" {self._signs['dot']} "
        shown: list[str] = []
        for part in self._parts:
            if not shown or len(dot.join([*shown, part])) <= self.size.width:
                shown.append(part)
        self.update(Content(dot.join(shown)))


def job_lines(jobs: Sequence[Job], signs: Signs) -> list[str]:
    """The tasks in the background that go on."""
    return [f"{signs['running']} {job.line.text}" for job in jobs if not job.line.outcome]


def _todo(value: object) -> tuple[str, bool]:
    if isinstance(value, Mapping):
        return str(value.get("text", "")), bool(value.get("done"))
    return str(value), False
