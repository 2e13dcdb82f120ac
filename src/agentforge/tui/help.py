"""F1: the keys and the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Markdown, Static

from agentforge.app.slash import commands
from agentforge.safety.text.hygiene import clean
from agentforge.tui.looks import markdown_parser

if TYPE_CHECKING:
    from textual.app import ComposeResult

COMMANDS = (
    ("theme", "Choose a theme, or take the one that is named."),
    ("keys", "Show the keys."),
    ("edit", "Write the message in your editor."),
    ("vim", "Vim's keys in the input, or plain ones; the setting input_keys makes them last."),
)
KEYS = (
    ("Enter", "send; while the agent works, the message reaches it before its next step"),
    ("Alt+Enter, Shift+Enter, Ctrl+J, \\ Enter", "new line"),
    ("Esc", "stop the turn; twice: clear the input, or go back to an earlier point"),
    ("Ctrl+C", "stop the turn, or clear the input; twice: leave"),
    ("Ctrl+B", "send the command that runs to the background; /tasks shows it (in tmux, press it twice)"),
    ("Shift+Tab", "next mode: ask, change files, no questions, plan"),
    ("!command", "run a command in your own shell and show the agent what came of it"),
    ("Ctrl+V, a dropped file, @name.png", "attach an image; a dropped file of the workspace becomes @name"),
    ("@name, /name, Tab", "complete a file, a command"),
    ("Up, Down", "what you typed before; while messages wait: take them back"),
    ("Ctrl+R", "search what you typed before"),
    ("Ctrl+G, /edit", "write the message in your editor"),
    ("Ctrl+_", "take back what was typed or deleted last"),
    ("Ctrl+O", "open or close the last call"),
    ("Tab, Enter", "go to a call, open it"),
    ("PageUp, PageDown, Ctrl+End", "scroll, back to the end"),
    ("Ctrl+T", "show or hide the todos"),
    ("Ctrl+Y", "copy the selected text, or the last answer"),
    ("Ctrl+L, Ctrl+Z", "draw the screen anew, go to the shell (fg comes back)"),
    ("Ctrl+D, exit", "leave; Ctrl+D when the input is empty"),
    ("F2", "next theme"),
    ("?, F1", "this"),
)


class HelpScreen(ModalScreen[None]):
    """Keys and commands; any of the closing keys closes it."""

    BINDINGS = [("escape,q,f1,enter", "dismiss", "Close"), ("ctrl+c", "dismiss", "Close")]  # noqa: RUF012

    def __init__(self, extra: tuple[tuple[str, str], ...]) -> None:
        super().__init__()
        self._extra = extra

    def compose(self) -> ComposeResult:
        """The card."""
        with Vertical(classes="card"):
            yield Static(Content.styled("Keys and commands", "bold $accent"), classes="title")
            with VerticalScroll(classes="body"):
                yield Static(_table(KEYS))
                yield Static("")
                yield Static(_table(self._commands()))
            yield Static(Content.assemble(("esc", "bold $primary"), " close"), classes="keys")

    def _commands(self) -> tuple[tuple[str, str], ...]:
        unique = {command.name: command for command in commands().values()}
        rows = [(f"/{one.name} {one.usage}".strip(), one.summary) for one in unique.values()]
        return (*rows, *((f"/{name}", summary) for name, summary in self._extra))


class LookScreen(ModalScreen[None]):
    """What a command says while a turn goes on; any of the closing keys closes it.

    Args:
        asked: the line of the command.
        text: Markdown.
    """

    BINDINGS = HelpScreen.BINDINGS

    def __init__(self, asked: str, text: str) -> None:
        super().__init__()
        self._asked = asked
        self._text = text

    def compose(self) -> ComposeResult:
        """The card."""
        with Vertical(classes="card"):
            yield Static(Content.styled(self._asked, "bold $accent"), classes="title")
            with VerticalScroll(classes="body"):
                yield Markdown(clean(self._text), open_links=False, parser_factory=markdown_parser)
            yield Static(Content.assemble(("esc", "bold $primary"), " close"), classes="keys")


def _table(rows: tuple[tuple[str, str], ...]) -> Content:
    lines = [Content.assemble((name, "bold $primary"), f"  {text}") for name, text in rows]
    return Content("\n").join(lines)
