"""Reading the terminal: a long paste in one piece, bytes that are no UTF-8 without a crash, and whether its ground is light."""

from __future__ import annotations

import os
import re
import selectors
from codecs import getincrementaldecoder
from collections.abc import Iterable, Mapping
from threading import Event
from typing import Any

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, Paste
from textual.message import Message

_BEGIN, _END = "\x1b[200~", "\x1b[201~"
_CHUNK = 1 << 16
_LOOK_S = 0.1
_ALT_ENTER = ("\x1b\r", "\x1b\n")
ASK = "\x1b]11;?\x1b\\\x1b[c"
"""What is its background, and what is it? All terminals answer the second, so that nobody waits for the first."""
_COLOUR = re.compile(r"\x1b\]11;(?P<colour>[^\x07\x1b]*)(?:\x07|\x1b\\)")
_KIND = re.compile(r"\x1b\[\?[\d;]*c")
_BEGUN = re.compile(r"\x1b(?:\](?:1(?:1(?:;[^\x07\x1b]{0,40}\x1b?)?)?)?|\[(?:\?[\d;]{0,40})?)?\Z")
_RGB = re.compile(r"rgba?:([\da-f]{1,4})/([\da-f]{1,4})/([\da-f]{1,4})", re.IGNORECASE)
_WEIGHTS = (0.299, 0.587, 0.114)
_MIDDLE = 0.5


class KeyParser(XTermParser):
    """The parser of Textual, which takes Alt+Enter of a terminal without a keyboard protocol (ESC CR) for Enter."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        if sequence in _ALT_ENTER:
            yield Key("alt+enter", None)
            return
        yield from super()._sequence_to_key_events(sequence, alt)


class PasteReader:
    """Takes pastes out of what the terminal sends, whole; the rest goes to the parser of keys sign by sign."""

    def __init__(self, parser: XTermParser) -> None:
        self._parser = parser
        self._pieces: list[str] | None = None
        self._tail = ""

    def feed(self, data: str) -> Iterable[Message]:
        """Read what came; yields keys, mouse, pastes."""
        while data:
            if self._pieces is None:
                before, begun, data = data.partition(_BEGIN)
                if before:
                    yield from self._parser.feed(before)
                if begun:
                    self._pieces, self._tail = [], ""
            elif _END in self._tail + data:
                whole, _, data = "".join([*self._pieces, data]).partition(_END)
                self._pieces = None
                yield Paste(whole.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n"))
            else:
                self._pieces.append(data)
                self._tail = (self._tail + data)[-len(_END) :]
                return


class GroundTold(Message):
    """The terminal has said whether its background is light."""


class TerminalDriver(LinuxDriver):
    """The driver of Textual with another way of reading.

    Attributes:
        ready: set by the application when its input takes keys. What was typed before waits here.
        ground: what the terminal said about its background.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.ready = Event()
        self.ground = Ground()
        self._early: list[Message] = []

    def start_application_mode(self) -> None:
        """Take the terminal, and ask it for its background."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if self.input_tty and self._writer_thread is not None and may_be_asked(os.environ):
            self.write(self.ground.ask())
            self.flush()
        else:
            self.ground.known.set()

    def run_input_thread(self) -> None:
        """Read until the screen is left."""
        selector = selectors.SelectSelector()
        selector.register(self.fileno, selectors.EVENT_READ)
        parser = KeyParser(self._debug)
        reader = PasteReader(parser)
        decode = getincrementaldecoder("utf-8")("replace").decode
        ahead = True
        try:
            while not self.exit_event.is_set():
                if selector.select(0 if ahead else _LOOK_S):
                    data = os.read(self.fileno, _CHUNK)
                    if not data:
                        return
                    if (
                        ahead
                    ):  # Enter, typed while the program was starting, was turned into a line feed by the terminal
                        data = data.replace(b"\n", b"\r")
                    self._take(reader.feed(self._sifted(decode(data))))
                else:
                    self._take(reader.feed(self.ground.rest()))
                ahead = False
                self._take(parser.tick())
        finally:
            selector.close()

    def _sifted(self, data: str) -> str:
        """Leave out what the terminal itself answered, and tell the application of it."""
        waits = not self.ground.known.is_set()
        data = self.ground.sift(data)
        if waits and self.ground.known.is_set():
            self._take((GroundTold(),))
        return data

    def _take(self, messages: Iterable[Message]) -> None:
        """Hand over what was read, when the application takes it."""
        self._early += messages
        if self.ready.is_set():
            early, self._early = self._early, []
            for message in early:
                self.process_message(message)


class Ground:
    """Takes the answers to `ASK` out of what the terminal sends.

    Attributes:
        light: what the terminal said; None as long as it has not, and where it cannot.
        known: set when the terminal has answered, or has shown that it has no answer.
    """

    def __init__(self) -> None:
        self.light: bool | None = None
        self.known = Event()
        self._begun = ""
        self._asked = False

    def ask(self) -> str:
        """What to send to the terminal; its answer is awaited from now on."""
        self._asked = True
        self.known.clear()
        return ASK

    def sift(self, data: str) -> str:
        """Keep the answers and return the rest; an answer of which only the beginning came waits for `rest`."""
        if not self._asked:
            return data
        data = _COLOUR.sub(self._coloured, self._begun + data)
        kind = _KIND.search(data)
        if kind:
            self._begun, self._asked = "", False
            self.known.set()
            return data[: kind.start()] + data[kind.end() :]
        begun = _BEGUN.search(data)
        self._begun = begun[0] if begun else ""
        return data[: len(data) - len(self._begun)]

    def rest(self) -> str:
        """What looked like an answer and was none, when nothing came behind it: somebody has pressed Esc."""
        rest, self._begun = self._begun, ""
        return rest

    def _coloured(self, answer: re.Match[str]) -> str:
        light = is_light(answer["colour"])
        self.light = self.light if light is None else light
        self.known.set()
        return ""


def is_light(colour: str) -> bool | None:
    """Whether a colour as terminals name it (`rgb:ffff/ffff/ffff`) is a light one; None when it is no colour."""
    found = _RGB.match(colour)
    if found is None:
        return None
    parts = [int(digits, 16) / (16 ** len(digits) - 1) for digits in found.groups()]
    brightness: float = sum(weight * part for weight, part in zip(_WEIGHTS, parts, strict=True))
    return brightness > _MIDDLE


def may_be_asked(environ: Mapping[str, str]) -> bool:
    """Whether the terminal takes the question for what it is: the console of Linux could draw it, and is dark anyway."""
    return environ.get("TERM", "") not in ("linux", "dumb")
