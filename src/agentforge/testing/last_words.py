"""The lines of a program's output that say why it ended, as one short line without secrets."""

from __future__ import annotations

import re

from agentforge.safety.text.hygiene import clean
from agentforge.safety.text.redaction import redact

_SAYS_WHY = re.compile(
    r"Fatal Python error:|"  # pytest's dots stand before it in its line
    r"\b(?:[A-Z]\w*)?(?:Error|Exception|Warning|Interrupt|Exit)\b[^\n]{0,80}?:|(?i:^\W*(?:\S+: )?(?:fatal|error|panic)\b)|"
    r"(?i:\b(?:unknown|unrecogni[sz]ed|unexpected|invalid|no such|cannot|can't|could not|not found|no module|not installed)\b)"
)
_FRAME = re.compile(r"^\s*(?:at \S|File \"|[~^]+\s*$|-+\s*$|=+\s*$|Node\.js v\d)")
_LINES = 3
_CHARS = 280
_LOOKED_AT = 8000


def last_words(output: str) -> str:
    """Return the last line that names an error with up to two that follow it; without such a line, the last three lines."""
    text = redact(clean(output[-_LOOKED_AT:])).text
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _FRAME.match(line)]
    telling = [at for at, line in enumerate(lines) if _SAYS_WHY.search(line)]
    start = telling[-1] if telling else max(0, len(lines) - _LINES)
    while telling and start > 0 and start - 1 in telling and telling[-1] - start < _LINES - 1:
        start -= 1  # an error told in several lines is told from its first one
    said = " | ".join(lines[start : start + _LINES])
    return said if len(said) <= _CHARS else f"{said[: _CHARS - 1]}…"


def with_last_words(problem: str, output: str) -> str:
    """Add to a sentence about a program's end what the program said last; unchanged where it said nothing."""
    said = last_words(output)
    return f"{problem}; the last that it printed: {said}" if said else problem
