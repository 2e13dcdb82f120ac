"""Where the person types: several lines, history, long pastes by name, dropped files, completion of commands and files."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote

from textual.binding import Binding
from textual.message import Message
from textual.widgets import TextArea

from agentforge.app.sessions.mentions import as_mention, pasted
from agentforge.messages import Picture
from agentforge.tui.vim import Vim
from agentforge.workspace.files.pictures import PictureTooLarge, read_picture

if TYPE_CHECKING:
    from textual.events import Key, Paste

    from agentforge.app.sessions.input_history import Typed
    from agentforge.tui.completion import Completion


_PASTE_LINES = 12
_PASTE_CHARACTERS = 1_500
_LONGEST = 8_000
_URI = "file://"


class Offers(Protocol):
    """Shows what a begun word could become."""

    def __call__(self, word: str, *, first: bool) -> bool:
        """Show it; whether there is anything. `first`: the word begins the message."""


class Prompt(TextArea):
    """The input. Posts `Sent` when a message is ready.

    Attributes:
        completing: the list of completions is open.
        offers: shows what a begun word could become.
        pictures: images that were pasted, by what stands for them.
        complains: tells the person why something was not taken.
        root: the folder whose files are named by @.
        recalls: gives back what waits to be said; whether there was anything.
    """

    BINDINGS = [  # noqa: RUF012 - as Textual wants it
        Binding("shift+enter,alt+enter,ctrl+j", "new_line", "New line", show=False),
        Binding("alt+b", "cursor_word_left", show=False),
        Binding("alt+f", "cursor_word_right", show=False),
        Binding("alt+backspace", "delete_word_left", show=False),
        Binding("alt+d", "delete_word_right", show=False),
        Binding("ctrl+underscore,ctrl+minus,ctrl+slash", "undo", show=False),
    ]

    class Sent(Message):
        """A message: its text, and the long pastes that go along."""

        def __init__(self, text: str, notes: tuple[str, ...]) -> None:
            super().__init__()
            self.text = text
            self.notes = notes

    def __init__(self, typed: Typed, completion: Completion, *, placeholder: str) -> None:
        super().__init__(
            id="prompt",
            soft_wrap=True,
            tab_behavior="focus",
            placeholder=placeholder,
            highlight_cursor_line=False,
            compact=True,
        )
        self.completing = False
        self.offers: Offers | None = None
        self.recalls: Callable[[], bool] = lambda: False
        self.complains: Callable[[str], None] = lambda _text: None
        self.root = Path.cwd()
        self.typed = typed
        self._completion = completion
        self._offered: tuple[str, bool] | None = None
        self.vim: Vim | None = None
        self._tab_waits = False
        self._at = len(typed.lines)
        self._draft = ""
        self._pastes: dict[str, str] = {}
        self.pictures: dict[str, Picture] = {}

    def action_new_line(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    async def _on_key(self, event: Key) -> None:
        if event.key != "tab":
            self._tab_waits = False
        if self._vimmed(event) or self._listed(event.key) or self._walked(event.key):
            event.stop()
            event.prevent_default()
        elif event.key == "enter":
            event.stop()
            event.prevent_default()
            self._enter()
        elif event.character == "?" and not self.text:
            event.stop()
            event.prevent_default()
            await self.run_action("app.keys")
        elif not await self._acted(event):
            await super()._on_key(event)

    async def _acted(self, event: Key) -> bool:
        """Whether the key is bound to something that the input does; done at once, so that what is typed behind it comes
        behind it: Textual itself looks for bindings later, when other keys were taken already."""
        bound = self._bindings.key_to_bindings.get(event.key)
        if not bound:
            return False
        event.stop()
        event.prevent_default()
        await self.run_action(bound[0].action)
        return True

    def use_vim(self, *, wanted: bool) -> None:
        """Take Vim's keys, or plain ones."""
        self.vim = Vim(self) if wanted else None
        self._show_vim()

    def _vimmed(self, event: Key) -> bool:
        """Whether the key was a command of Vim's normal mode, or led there."""
        vim = self.vim
        if vim is None or (self.completing and event.key == "escape"):
            return False
        if event.key == "escape":
            taken = vim.escape()
        elif vim.normal and event.character in ("j", "k") and vim.idle:
            taken = self._walked("up" if event.character == "k" else "down") or vim.take(event.character)
        else:
            taken = event.is_printable and vim.take(event.character or "")
        self._show_vim()
        return taken

    def _show_vim(self) -> None:
        self.border_subtitle = "" if self.vim is None else "normal" if self.vim.normal else "insert"

    def _listed(self, key: str) -> bool:
        """Whether the key was for the list of completions; the list is about what was typed by now, however fast."""
        if key not in ("up", "down", "tab", "enter", "escape"):
            return False
        if key in ("tab", "enter"):
            self._offer()
        if not self.completing:
            self._tab_waits = key == "tab" and bool(self._begun()[0])
            return self._tab_waits
        if key in ("up", "down"):
            self._completion.move(-1 if key == "up" else 1)
            return True
        if key == "enter" and self._sends_as_it_stands():
            self._close_list()
            return False
        if key != "escape":
            self._take()
        self._close_list()
        return True

    def _sends_as_it_stands(self) -> bool:
        """Whether Enter is meant for the message: the word is whole, or behind a command, where what is typed counts."""
        begun, first = self._begun()
        return not self._completion.moved and (self._completion.whole or (first and " " in begun))

    def _take(self) -> None:
        row, column = self.cursor_location
        self.replace(self._completion.chosen, (row, column - len(self._completion.word)), (row, column))

    def _walked(self, key: str) -> bool:
        """Whether the key led through what was typed before."""
        if key == "up" and self.cursor_at_first_line:
            if self.text or not self.recalls():
                self._walk(-1)
            return True
        if key == "down" and self.cursor_at_last_line:
            self._walk(1)
            return True
        return False

    async def _on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        self.paste(event.text)

    def paste(self, text: str) -> None:
        """Take a pasted text: a long one by name, paths of images and of files as what they stand for."""
        try:
            found = dropped(text, self.root)
        except PictureTooLarge as error:
            self.complains(str(error))
            found = []
        for one in found:
            if isinstance(one, Picture):
                self.show_picture(one)
            else:
                self.insert(f"{one} ")
        if found:
            return
        if len(text) > _PASTE_CHARACTERS or text.count("\n") > _PASTE_LINES:
            name, note = pasted(text, len(self._pastes) + 1)
            self._pastes[name] = note  # kept when it was sent: what comes back into the input comes back whole
            text = name
        self.insert(text)

    def show_picture(self, picture: Picture) -> None:
        """Take an image by name; it goes along with the message that holds the name."""
        name = f"[image {len(self.pictures) + 1}: {picture.name}]"
        self.pictures[name] = picture
        self.insert(f"{name} ")

    def on_text_area_changed(self) -> None:
        """Show what could be completed."""
        self._offer()

    def offer_anew(self) -> None:
        """Show it again: more is known now."""
        self._offered = None
        self._offer()

    def put(self, text: str) -> None:
        """Show a text to go on with."""
        self.text = text
        self.move_cursor(self.document.end)

    def keep_draft(self) -> None:
        """Clear the input; going up brings back what stood there."""
        self.typed.add(self.text)
        self.clear_all()

    def clear_all(self) -> None:
        """Begin anew."""
        self.text = ""
        if self.vim is not None:
            self.use_vim(wanted=True)
        self._at = len(self.typed.lines)
        self._offer()

    def _begun(self) -> tuple[str, bool]:
        """The word before the cursor that may be completed, "" for none, and whether it begins the message."""
        row, column = self.cursor_location
        line = self.document.get_line(row)[:column]
        if row == 0 and line.startswith("/"):
            return line, True
        word = line.rpartition(" ")[2]
        return (word if word.startswith("@") else ""), False

    def _offer(self) -> None:
        begun = self._begun()
        if begun == self._offered:
            return
        self._offered = begun
        self.completing = self.offers is not None and self.offers(begun[0], first=begun[1])
        if self.completing and self._tab_waits:
            self._take()
            self._close_list()
        self._tab_waits = self._tab_waits and not self.completing

    def _close_list(self) -> None:
        self._offered = self._begun()
        self.completing = False
        self._completion.offer("", ())

    def _enter(self) -> None:
        text = self.text
        row, column = self.cursor_location
        if column and self.document.get_line(row)[:column].endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column))
            return
        if not text.strip():
            return
        notes = tuple(note for name, note in self._pastes.items() if name in text)
        self.typed.add(text)
        self.clear_all()
        self.post_message(self.Sent(text.strip(), notes))

    def _walk(self, way: int) -> None:
        lines = self.typed.lines
        if not 0 <= self._at + way <= len(lines):
            return
        if self._at >= len(lines):
            self._draft = self.text
        self._at += way
        self.put(self._draft if self._at >= len(lines) else lines[self._at])
        self._close_list()


def dropped(text: str, root: Path) -> list[Picture | str]:
    """What a pasted text stands for, where it is nothing but the paths of files that are there.

    Args:
        root: what lies in it is named by @.
    Returns:
        Images, mentions, and paths from elsewhere as they are, in order; [] for every other text.
    Raises:
        PictureTooLarge: one is an image that is larger than models take.
    """
    found = [_standing(path, root) for path in _paths(text)]
    return found if any(isinstance(one, Picture) or one.startswith("@") for one in found) else []


def _paths(text: str) -> list[Path]:
    """The paths of a text that holds nothing else; a path as it is, in quotes, with backslashes, or as an address."""
    text = text.strip()
    if not text.strip("'\"").startswith(("/", "~/", _URI)) or len(text) > _LONGEST:
        return []
    whole = _path(text)
    if "\n" not in text and _is_there(whole):
        return [whole]
    try:
        paths = [_path(word) for word in shlex.split(text)]
    except ValueError:  # a quote that is not closed
        return []
    return paths if all(map(_is_there, paths)) else []


def _path(word: str) -> Path:
    return Path(unquote(word.removeprefix(_URI)) if word.startswith(_URI) else word)


def _is_there(path: Path) -> bool:
    try:
        return str(path).startswith(("/", "~/")) and path.expanduser().exists()
    except (OSError, RuntimeError, ValueError):  # a name that no file can have, a home that nobody knows
        return False


def _standing(path: Path, root: Path) -> Picture | str:
    path = path.expanduser()
    try:
        picture = read_picture(path, name=path.name) if path.is_file() else None
    except OSError:  # nobody may read it
        picture = None
    if picture is not None:
        return picture
    try:
        within = path.resolve().relative_to(root.resolve())
    except (OSError, ValueError):
        return str(path)
    return as_mention(f"{within}/" if path.is_dir() else str(within)) if within.name else str(path)
