"""The ground of the terminal, light or dark: asked by OSC 11, and taken out of what the terminal sends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from threading import Event

ASK = "\x1b]11;?\x1b\\\x1b[c"
"""What is its background, and what is it? All terminals answer the second, so that nobody waits for the first."""

_COLOUR = re.compile(r"\x1b\]11;(?P<colour>[^\x07\x1b]*)(?:\x07|\x1b\\)")
_KIND = re.compile(r"\x1b\[\?[\d;]*c")
_BEGUN = re.compile(r"\x1b(?:\](?:1(?:1(?:;[^\x07\x1b]{0,40}\x1b?)?)?)?|\[(?:\?[\d;]{0,40})?)?\Z")
_RGB = re.compile(r"rgba?:([\da-f]{1,4})/([\da-f]{1,4})/([\da-f]{1,4})", re.IGNORECASE)
_WEIGHTS = (0.299, 0.587, 0.114)
_MIDDLE = 0.5


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
