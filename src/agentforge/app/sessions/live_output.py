"""What a command writes while it runs, made fit to be shown: whole lines, without secrets, without cursor movements."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable

from agentforge.safety.text.hygiene import clean
from agentforge.safety.text.redaction import redact

_LONGEST_LINE = 2000
_MOST_CHARACTERS = 200_000


class Overheard:
    """Takes pieces of output and passes on lines; after a bounded amount it falls silent, the result holds both ends."""

    def __init__(self, show: Callable[[str], None], *, secrets: tuple[str, ...]) -> None:
        self._show = show
        self._secrets = secrets
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._begun = ""
        self._left = _MOST_CHARACTERS

    def hear(self, piece: bytes) -> None:
        """Take the next piece; lines that it completes are shown."""
        if self._left <= 0:
            return
        *lines, self._begun = (self._begun + self._decoder.decode(piece)).split("\n")
        if len(self._begun) > _LONGEST_LINE:
            lines, self._begun = [*lines, self._begun], ""
        if not lines:
            return
        text = "".join(f"{line[:_LONGEST_LINE]}\n" for line in lines)
        self._left -= len(text)
        self._show(redact(clean(text), secrets=self._secrets).text)
