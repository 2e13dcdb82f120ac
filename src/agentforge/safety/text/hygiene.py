"""Foreign text: terminal escapes and control characters go, invisible ones are shown, and what is untrusted gets a fence."""

from __future__ import annotations

import re

from agentforge.frozen import dataclass

_OPENS = re.compile(r"<untrusted (?P<mark>\S+)>\n")
_WRAPPED = re.compile(r"<untrusted (?P<mark>\S+)>\n(?P<text>.*)\n</untrusted (?P=mark)>", re.DOTALL)
_ESCAPE = (
    r"\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC: title, hyperlink, clipboard; an open one ends with its line
    r"|\x1b[PX^_][^\x1b\n]*(?:\x1b\\)?"  # DCS, SOS, PM, APC
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROL = r"[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]"
_INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d"
    "\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Patterns are texts: `re` compiles and keeps them when they are first needed, not at start-up.


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """Text that is safe to show, and what was taken out of it.

    Attributes:
        sequences: terminal escapes that were removed.
        controls: control characters that were removed.
        invisible: invisible characters that are shown by their number.
    """

    text: str
    sequences: int = 0
    controls: int = 0
    invisible: int = 0


def cleaned(text: str) -> Cleaned:
    """Make foreign text safe to show as `clean` does, and count what was done."""
    shown = clean(text)
    if shown == text:
        return Cleaned(text=text)
    rest, sequences = re.subn(_ESCAPE, "", text)
    return Cleaned(
        text=shown,
        sequences=sequences,
        controls=len(re.findall(_CONTROL, rest)),
        invisible=0 if rest.isascii() else len(re.findall(_INVISIBLE, rest)),
    )


def clean(text: str) -> str:
    """Make foreign text safe to show, to a terminal and to a model.

    Terminal escapes and control characters are removed; a line that was overwritten by carriage returns reads as it
    stood last on the screen; bidirectional, zero-width, tag and other invisible characters read `<U+202E>`.
    """
    if "\x1b" in text or "\x9b" in text:
        text = re.sub(_ESCAPE, "", text)
    if "\r" in text or "\x08" in text:
        text = "\n".join(_as_on_screen(line) for line in text.split("\n"))
    if text.isascii():
        return re.sub(_CONTROL, "", text)
    return re.sub(_INVISIBLE, _shown, re.sub(_CONTROL, "", text))


def _shown(match: re.Match[str]) -> str:
    return f"<U+{ord(match.group()):04X}>"


def _as_on_screen(line: str) -> str:
    """Play carriage returns and backspaces of one line; a return at its end is half of a line break."""
    screen = ""
    for segment in line.rstrip("\r").split("\r"):
        written = _without_backspaces(segment) if "\x08" in segment else segment
        screen = written + screen[len(written) :]
    return screen


def _without_backspaces(segment: str) -> str:
    out: list[str] = []
    for sign in segment:
        if sign != "\x08":
            out.append(sign)
        elif out:
            out.pop()
    return "".join(out)


def wrap(text: str, *, nonce: str) -> str:
    """Fence `text` so that nothing inside can close the fence.

    Args:
        nonce: a word that the author of the text cannot know, without white space; it is lengthened until the text does
            not hold it.
    """
    mark = nonce
    while mark in text:
        mark += "x"
    return f"<untrusted {mark}>\n{text}\n</untrusted {mark}>"


def outside(text: str) -> str:
    """Return what stands outside of all fences; one that is never closed holds everything behind it."""
    parts, rest = [], text
    while (match := _OPENS.search(rest)) is not None:
        parts.append(rest[: match.start()])
        close = f"\n</untrusted {match['mark']}>"
        end = rest.find(close, match.start())
        rest = rest[end + len(close) :] if end >= 0 else ""
    return "".join([*parts, rest])


def unwrap(text: str) -> str:
    """Return what `wrap` was given.

    Raises:
        ValueError: the text is not one whole fence.
    """
    match = _WRAPPED.fullmatch(text)
    if match is None:
        raise ValueError("not a fenced text")
    return match["text"]
