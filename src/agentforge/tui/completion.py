"""The list above the input: commands behind "/", files behind "@"."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash import known_commands

_SHOWN = 7


class Completion(Static):
    """A few fitting words, one of them chosen. Drawn as one text: quick, and it never takes the focus.

    Attributes:
        word: the begun word that they stand for.
        whole: the begun word is one of them already: Enter sends it as it is.
        moved: the person has chosen among them.
    """

    def __init__(self) -> None:
        super().__init__("", id="completion")
        self.word = ""
        self._rows: list[tuple[str, str]] = []
        self._at = 0
        self.whole = False
        self.moved = False

    @property
    def chosen(self) -> str:
        """What would be put in place of the begun word."""
        return self._rows[self._at][0]

    def offer(self, word: str, rows: Sequence[tuple[str, str]]) -> bool:
        """Show (text, explanation) rows for a begun word; whether there are any."""
        self._rows = [row for row in rows if row[0].strip() != word.strip()]
        self.word, self.whole, self._at = word, len(self._rows) < len(rows), 0
        self.moved = False
        self.set_class(bool(self._rows), "shown")
        if self._rows:
            self._draw()
        return bool(self._rows)

    def move(self, way: int) -> None:
        """Choose the next or the one before."""
        self._at = (self._at + way) % len(self._rows)
        self.moved = True
        self._draw()

    def _draw(self) -> None:
        start = max(0, min(self._at - _SHOWN // 2, len(self._rows) - _SHOWN))
        lines: list[Content] = []
        widest = max(len(text) for text, _ in self._rows[start : start + _SHOWN])
        for number, (text, about) in enumerate(self._rows[start : start + _SHOWN], start=start):
            style = "bold $primary" if number == self._at else ""
            lines.append(
                Content.assemble(
                    ("> " if number == self._at else "  ", style),
                    (text.ljust(widest), style),
                    (f"  {about}", "$foreground-muted"),
                )
            )
        self.update(Content("\n").join(lines))


def commands_for(chat: Chat, begun: str, extra: Sequence[tuple[str, str]]) -> tuple[str, list[tuple[str, str]]]:
    """What a begun command could become.

    Args:
        extra: commands of the screen itself: (name, summary).
    Returns:
        The part that is replaced, and the rows.
    """
    name, space, rest = begun[1:].partition(" ")
    known = known_commands(chat)
    if space:
        command = known.get(name.lower())
        word = rest.rpartition(" ")[2]
        return word, [(text, "") for text in command.complete(chat, word)] if command else []
    rows = [
        (f"/{alias} ", command.summary)
        for alias, command in known.items()
        if alias.startswith(name.lower()) and alias != "?"
    ]
    rows += [(f"/{alias} ", summary) for alias, summary in extra if alias.startswith(name.lower())]
    return begun, sorted(rows)
