"""What the model thinks, on the screen: its last lines while it comes, then one line that opens to all of it."""

from __future__ import annotations

from agentforge.app.sessions.display import CallLine
from agentforge.safety.text.hygiene import clean
from agentforge.tui.looks import Signs
from agentforge.tui.rows import CallRow

_SHOWN = 400


class Thinking:
    """The thinking of one reply."""

    def __init__(self, signs: Signs) -> None:
        self._signs = signs
        self._open = False
        self._row: CallRow | None = None

    def begin(self) -> None:
        """Another request was sent: what comes now is another row."""
        self._open, self._row = False, None

    def hear(self, text: str) -> CallRow | None:
        """Take a piece; return the row where it is a new one."""
        new = None
        if not self._open or self._row is None:
            self._open = True
            new = self._row = CallRow(CallLine(name="thinks", argument=""), signs=self._signs)
            new.add_class("thought")
        self._row.mused(text)
        return new

    def fold(self) -> None:
        """No more comes: one line is left of it."""
        if self._open and self._row is not None:
            self._open = False
            self._row.change(_folded(self._row.output))

    def whole(self, thinking: str) -> CallRow | None:
        """Take all of it, as it is recorded; return the row where nothing was seen of it before."""
        if self._row is not None:
            self._open = False
            self._row.change(_folded(thinking), output=thinking)
            return None
        row = CallRow(_folded(thinking), signs=self._signs)
        row.output = thinking
        row.add_class("thought")
        return row


def _folded(thinking: str) -> CallLine:
    words = " ".join(clean(thinking[: 10 * _SHOWN]).split())
    return CallLine(name="thought", argument=words[:_SHOWN], status="note")
