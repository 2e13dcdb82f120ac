"""Where the person types: several lines, history, long pastes by name, completion of commands and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.message import Message
from textual.widgets import TextArea

from agentforge.app.sessions.mentions import pasted

if TYPE_CHECKING:
    from textual.events import Key, Paste

    from agentforge.app.sessions.input_history import Typed

_PASTE_LINES = 12
_PASTE_CHARACTERS = 1_500


class Prompt(TextArea):
    """The input. Posts `Sent` when a message is ready, `Begun` when the begun word may be completed."""

    BINDINGS = [  # noqa: RUF012 - as Textual wants it
        Binding("shift+enter,alt+enter,ctrl+j", "new_line", "New line", show=False),
    ]

    class Sent(Message):
        """A message: its text, and the long pastes that go along."""

        def __init__(self, text: str, notes: tuple[str, ...]) -> None:
            super().__init__()
            self.text = text
            self.notes = notes

    class Begun(Message):
        """The word before the cursor, "" when there is none to complete, and whether it begins the message."""

        def __init__(self, word: str, *, first: bool) -> None:
            super().__init__()
            self.word = word
            self.first = first

    class Moved(Message):
        """A key for the open list of completions: "up", "down", "take", "close"."""

        def __init__(self, how: str) -> None:
            super().__init__()
            self.how = how

    def __init__(self, typed: Typed, *, placeholder: str) -> None:
        super().__init__(
            id="prompt",
            soft_wrap=True,
            tab_behavior="focus",
            placeholder=placeholder,
            highlight_cursor_line=False,
            compact=True,
        )
        self.completing = False
        self._typed = typed
        self._at = len(typed.lines)
        self._draft = ""
        self._pastes: dict[str, str] = {}

    def action_new_line(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    async def _on_key(self, event: Key) -> None:
        moves = {"up": "up", "down": "down", "tab": "take", "enter": "take", "escape": "close"}
        if self.completing and event.key in moves:
            event.stop()
            event.prevent_default()
            self.post_message(self.Moved(moves[event.key]))
        elif event.key == "enter":
            event.stop()
            event.prevent_default()
            self._enter()
        elif (event.key == "up" and self.cursor_at_first_line) or (event.key == "down" and self.cursor_at_last_line):
            event.stop()
            event.prevent_default()
            self._walk(-1 if event.key == "up" else 1)
        else:
            await super()._on_key(event)

    async def _on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        text = event.text
        if len(text) > _PASTE_CHARACTERS or text.count("\n") > _PASTE_LINES:
            name, note = pasted(text, len(self._pastes) + 1)
            self._pastes[name] = note
            text = name
        self.insert(text)

    def on_text_area_changed(self) -> None:
        """Tell what could be completed."""
        line = self.document.get_line(self.cursor_location[0])[: self.cursor_location[1]]
        word = line.rpartition(" ")[2]
        first = self.cursor_location[0] == 0 and line.startswith("/")
        if first:
            self.post_message(self.Begun(line, first=True))
        else:
            self.post_message(self.Begun(word if word.startswith("@") else "", first=False))

    def take(self, replaced: str, text: str) -> None:
        """Put a completion where the begun word stands."""
        row, column = self.cursor_location
        self.replace(text, (row, column - len(replaced)), (row, column))

    def put(self, text: str) -> None:
        """Show a text to go on with."""
        self.text = text
        self.move_cursor(self.document.end)

    def clear_all(self) -> None:
        """Begin anew."""
        self.text = ""
        self._pastes = {}
        self._at = len(self._typed.lines)

    def _enter(self) -> None:
        text = self.text
        row, column = self.cursor_location
        if column and self.document.get_line(row)[:column].endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column))
            return
        if not text.strip():
            return
        notes = tuple(note for name, note in self._pastes.items() if name in text)
        self._typed.add(text)
        self.clear_all()
        self.post_message(self.Sent(text.strip(), notes))

    def _walk(self, way: int) -> None:
        lines = self._typed.lines
        if not 0 <= self._at + way <= len(lines):
            return
        if self._at >= len(lines):
            self._draft = self.text
        self._at += way
        self.put(self._draft if self._at >= len(lines) else lines[self._at])
