"""A list to choose from, narrowed by what is typed: sessions, models, checkpoints, themes, servers, what was typed before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agentforge.app.slash.command import Choice
from agentforge.safety.text.hygiene import clean

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Key

_MOVES = {
    "up": "cursor_up", "down": "cursor_down", "ctrl+p": "cursor_up", "ctrl+n": "cursor_down",
    "pageup": "page_up", "pagedown": "page_down",
}  # fmt: skip
_MOST = 500


class Picker(ModalScreen["str | None"]):
    """Choose one; dismissed with its value, or None.

    Args:
        title: what is chosen.
        free: what is typed counts where nothing of the list fits.
        looked_at: told the value on which the cursor stands, "" for none.
    """

    BINDINGS = [("escape,ctrl+c", "dismiss(None)", "Nothing")]  # noqa: RUF012 - as Textual wants it

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        free: bool = False,
        looked_at: Callable[[str], None] = lambda _value: None,
    ) -> None:
        super().__init__()
        self._title = title
        self._choices = list(choices)[:_MOST]
        self._free = free
        self._looked_at = looked_at
        self._shown: list[Choice] = []

    def compose(self) -> ComposeResult:
        """The card."""
        with Vertical(classes="card"):
            yield Static(Content.styled(self._title, "bold $accent"), classes="title")
            yield Input(placeholder="type to search", id="search")
            rows = OptionList(id="rows", compact=True, markup=False)
            rows.can_focus = False
            yield rows
            keys = (("enter", "choose"), ("up, down", "move"), ("esc", "leave it"))
            shown = [Content.assemble((key, "bold $primary"), f" {word}") for key, word in keys]
            yield Static(Content("   ").join(shown), classes="keys")

    def on_mount(self) -> None:
        """Show all; the one that holds now is under the cursor."""
        self._narrow("")
        now = next((at for at, choice in enumerate(self._shown) if choice.current), 0)
        if self._shown:
            self.query_one(OptionList).highlighted = now

    def on_key(self, event: Key) -> None:
        """Move in the list while the search is typed in."""
        if event.key in _MOVES:
            event.stop()
            event.prevent_default()
            getattr(self.query_one(OptionList), f"action_{_MOVES[event.key]}")()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        event.stop()
        self._narrow(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take what is under the cursor, else what was typed."""
        event.stop()
        at = self.query_one(OptionList).highlighted
        if at is not None and at < len(self._shown):
            self.dismiss(self._shown[at].value)
        elif self._free and event.value.strip():
            self.dismiss(event.value.strip())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the one that was clicked."""
        event.stop()
        self.dismiss(self._shown[event.option_index].value)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Tell where the cursor stands."""
        event.stop()
        if event.option_index < len(self._shown):
            self._looked_at(self._shown[event.option_index].value)

    def _narrow(self, typed: str) -> None:
        words = typed.casefold().split()
        self._shown = [one for one in self._choices if all(word in _searched(one) for word in words)]
        rows = self.query_one(OptionList)
        rows.clear_options()
        widest = max((len(_line(one.label)) for one in self._shown), default=0)
        rows.add_options([Option(_drawn(one, min(widest, 60))) for one in self._shown])
        if self._shown:
            rows.highlighted = 0
        elif not self._free:
            rows.add_option(Option("nothing fits", disabled=True))


def _line(text: str) -> str:
    return " ".join(clean(text).split())


def _searched(choice: Choice) -> str:
    return f"{choice.label} {choice.about} {choice.value}".casefold()


def _drawn(choice: Choice, width: int) -> Content:
    label = _line(choice.label)
    mark = "* " if choice.current else "  "
    return Content.assemble(
        mark, label.ljust(width), (f"  {_line(choice.about)}" if choice.about else "", "$foreground-muted")
    )
