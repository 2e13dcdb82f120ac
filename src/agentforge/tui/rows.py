"""What the transcript is made of: a message, an answer that streams in, thoughts, a call that opens to its detail, a remark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from textwrap import wrap
from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from agentforge.app.sessions.display import CallLine
from agentforge.safety.text.hygiene import clean
from agentforge.tui.diffs import DiffView, counts
from agentforge.tui.looks import COLOURS, Signs

if TYPE_CHECKING:
    from textual.app import RenderResult
    from textual.events import Click


_DETAIL_LINES = 200
_DETAIL_CHARACTERS = 20_000
_DIFF_LINES = 2_000
_DIFF_SHOWN = 24
_TAIL = 5
_BRANCHES = 3
_FAILED_TAIL = 8
_ANSWER_TAIL = 30
_SHOWN = 400


class Said(Static):
    """What the person said."""

    def __init__(self, text: str, *, signs: Signs, classes: str = "") -> None:
        super().__init__(Content.assemble((f"{signs['person']} ", "bold $primary"), clean(text)), classes=classes)


class Remarked(Static):
    """A line of the program itself.

    Args:
        kind: "note" | "error" | "denied" | "success".
    """

    def __init__(self, text: str, *, signs: Signs, kind: str = "note") -> None:
        colour = COLOURS[kind]
        style = "$foreground-muted" if kind == "note" else colour
        super().__init__(Content.assemble((f"{signs[kind]} ", colour), (clean(text), style)))


class _Line(Widget):
    """One line that is cut where the screen ends; the result stays in sight, the argument gives way."""

    def __init__(self, row: CallRow) -> None:
        super().__init__()
        self._row = row

    def render(self) -> RenderResult:
        """Draw the line as wide as there is room."""
        return self._row.drawn(self.size.width)


class CallRow(Vertical):
    """A tool call, or a subagent, on one line; Enter or a click opens what it did.

    Attributes:
        line: as it stands now.
        diff: what a file tool changed.
        steps: calls that a subagent has made.
        output: what it gave, for people; `shown`: it is seen without opening the call ("always", or "").
    """

    BINDINGS = [("enter", "open", "Open")]  # noqa: RUF012 - as Textual wants it
    can_focus = True

    def __init__(self, line: CallLine, *, signs: Signs, diff: str = "", sign: str = "") -> None:
        super().__init__()
        self.line = line
        self.diff = diff
        self.arguments: Mapping[str, object] = {}
        self.output = ""
        self.shown = ""
        self._live: list[str] = []
        self._lines_heard = 0
        self.steps = 0
        self._signs = signs
        self._sign = sign
        self._line = _Line(self)
        self._detail: Widget | None = None
        self._glance = Static(classes="glance")

    @property
    def opened(self) -> bool:
        """Whether the detail is shown."""
        return self._detail is not None

    def compose(self):  # type: ignore[no-untyped-def]  # ComposeResult
        """The line, and what is seen of the call without opening it."""
        yield self._line
        yield self._glance
        if self.line.status == "success" and self.diff:
            yield self._diff_view()

    def on_mount(self) -> None:
        """A call of an earlier time shows what it wrote, where that is seen without opening it."""
        if self.line.status != "running" and self.shown:
            self._end()

    def change(self, line: CallLine, *, output: str = "") -> None:
        """Show how the call stands now."""
        begun = self.line.status == "running"
        self.line = line
        self.output = output or self.output
        self._line.refresh()
        if begun and line.status != "running":
            self._end()
        if self.opened:
            self.action_open()
            self.action_open()

    def _end(self) -> None:
        """The call is over: an edit shows its diff, a command that failed the end of what it wrote."""
        lines = self.output.rstrip().splitlines()
        if self.shown:
            self._glimpse(lines, most=_ANSWER_TAIL)
        elif self.line.status == "error" and self._live and not self.steps:
            self._glimpse(lines, most=_FAILED_TAIL)
        else:
            self._glimpse([], most=0)
        if self.line.status == "success" and self.diff and self.is_mounted:
            self.mount(self._diff_view())

    def _diff_view(self) -> DiffView:
        return DiffView(self.diff, most=_DIFF_SHOWN, more=" (Ctrl+O)", classes="glance shown diff")

    def wrote(self, text: str) -> None:
        """Show the last lines that a running command wrote."""
        lines = text.splitlines()
        self._lines_heard += len(lines)
        self._live = [*self._live, *lines][-_TAIL:]
        self._glimpse(self._live, most=_TAIL, total=self._lines_heard)

    def mused(self, text: str) -> None:
        """Take a piece of what the model thinks, and show its last lines."""
        self.output += text
        room = max(20, self.size.width - 6)
        lines = [part for line in clean(self.output[-room * _TAIL :]).splitlines() for part in wrap(line, room)]
        self._glimpse(lines, most=_TAIL)

    def stepped(self, text: str) -> None:
        """Show the next step of a subagent as a branch; the last ones stay in sight while it works."""
        self.steps += 1
        self._live = [*self._live, text][-_BRANCHES:]
        room = max(8, self.size.width - 8)
        branches = [cut(clean(line), room, more=self._signs["more"]) for line in self._live]
        marks = [self._signs["branch"]] * (len(branches) - 1) + [self._signs["leaf"]]
        self._glimpse(
            [f"{mark} {line}" for mark, line in zip(marks, branches, strict=True)], most=_BRANCHES, total=self.steps
        )

    def _glimpse(self, lines: list[str], *, most: int, total: int = 0) -> None:
        """Show the last of some lines below the call, and how many stand before them."""
        shown = [clean(line) for line in lines[-most:]] if most else []
        before = max(total, len(lines)) - len(shown)
        what = "calls" if self.steps else "lines"
        head = [f"{self._signs['more']} {before} {what} before"] if shown and before > 0 else []
        self._glance.set_class(bool(shown), "shown")
        self._glance.update(Content("\n".join([*head, *shown])))

    def drawn(self, width: int) -> Content:
        """The line, in at most `width` columns."""
        line, mark = (
            self.line,
            self._signs[self._sign if self.line.status == "running" and self._sign else self.line.status],
        )
        size = counts_of(self.diff)
        tail = " · ".join(part for part in (size, line.result, line.duration) if part)
        tail = tail.replace("·", self._signs["dot"])
        room = max(8, width - len(mark) - len(line.name) - 4)
        head = cut(line.argument, max(8, room - min(len(tail), room // 2)), more=self._signs["more"])
        tail = cut(tail, max(0, room - len(head)), more=self._signs["more"])
        return Content.assemble(
            (f"{mark} ", COLOURS.get(self._sign if line.status == "running" else line.status, COLOURS["running"])),
            (line.name, "bold"),
            f" {head}" if head else "",
            (f"  {tail}" if tail else "", "$foreground-muted"),
        )

    def action_open(self) -> None:
        """Open or close the detail."""
        if self._detail is not None:
            self._detail.remove()
            self._detail = None
        else:
            self._detail = (
                DiffView(self.diff, most=_DIFF_LINES) if self.diff else Static(Content(self._told()), classes="detail")
            )
            self.mount(self._detail)
        self.set_class(self.opened, "opened")

    def on_click(self, event: Click) -> None:
        """A click on the line opens it, too."""
        if event.widget is self._line:
            self.action_open()

    def _told(self) -> str:
        shown = [
            f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
            for name, value in self.arguments.items()
        ]
        text = clean("\n".join([*shown, *(["", self.output] if self.output else [])]))[:_DETAIL_CHARACTERS]
        lines = text.strip("\n").splitlines()
        more = [f"... {len(lines) - _DETAIL_LINES} lines more"] if len(lines) > _DETAIL_LINES else []
        return "\n".join([*lines[:_DETAIL_LINES], *more]) or "nothing more to show"


def cut(text: str, room: int, *, more: str) -> str:
    """Cut a text to `room` columns; wide signs count twice."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= room:
        return text
    return set_cell_size(text, max(0, room - len(more))).rstrip() + more if room > len(more) else ""


def counts_of(diff: str) -> str:
    """How much a diff changes, "" when it changes nothing."""
    if not diff:
        return ""

    return counts(diff)


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
