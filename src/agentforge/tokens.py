"""Counting tokens and cutting text to a number of tokens.

The count is a rule, not a vocabulary: it needs no data, starts in no time, and gives the same number on every machine,
so that a recorded context can be rebuilt byte for byte. It is chosen to lie above the common vocabularies on code, prose,
YAML, JSON and Markdown (see docs/adr/0003-token-count-by-rule.md for the figures).
"""

from __future__ import annotations

import re
from functools import lru_cache

_REMEMBERED_CHARS = 16_000

_MARKER = r"\.\.\. (\d{1,9}) lines omitted(?: \(\d+-\d+ of \d+\))?(?:; .*)? \.\.\.$"
_PIECE = re.compile(
    r"[A-Z]?[a-z]{1,10}|[A-Z]{1,4}"  # a word costs one token per started ten letters, capitals one per four
    r"|\d{1,3}"
    r"|[\t\n\r\f\v]\s*| \s+"  # white space other than a single space costs one a run
    r"|(?:(?! )[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]){1,3}"  # ASCII signs: one per started three
    r"|[^\x00-\x7f]"  # anything else: one each
    r"|[\x00-\x08\x0e-\x1f\x7f]"
)


def count_tokens(text: str) -> int:
    """Estimate what `text` costs in a model's context, in tokens; never below zero, zero only for nothing or one space."""
    return _remembered(text) if len(text) <= _REMEMBERED_CHARS else _remembered_long(text)


@lru_cache(maxsize=1024)
def _remembered(text: str) -> int:
    """Most of a context is the same from step to step: counted once."""
    return _counted(text)


@lru_cache(maxsize=256)
def _remembered_long(text: str) -> int:
    """What a person attached and what tools read is asked about at every step, too."""
    return _counted(text)


def _counted(text: str) -> int:
    return len(_PIECE.findall(text))


def cut_middle(text: str, *, limit: int, note: str = "") -> str:
    """Keep the head and the tail of `text` so that it costs at most `limit` tokens.

    Args:
        limit: tokens, >= 16; the marker line counts.
        note: how to see the rest, put into the marker, e.g. `read_file offset={first}`; {first} and {last} become the numbers of
            the omitted lines.
    Returns:
        `text` unchanged when it fits, else head + "... N lines omitted (A-B of ALL) ..." + tail (2:1).
    """
    if count_tokens(text) <= limit:
        return text
    lines = text.splitlines(keepends=True)
    room = max(1, limit - count_tokens(_marker(len(lines), len(lines), len(lines), note)) - 2)
    head = _take(lines, room * 2 // 3)
    tail = _take(lines[len(head) :][::-1], room - sum(map(_counted, head)))[::-1]
    before, omitted, after = (
        sum(map(_lines_in, part)) for part in (head, lines[len(head) : len(lines) - len(tail)], tail)
    )
    if not head and not tail:  # one enormous line
        return cut_end(text, limit=limit)
    joined = "".join(head)
    newline = "" if joined.endswith("\n") or not joined else "\n"
    return f"{joined}{newline}{_marker(before, omitted, after, note)}{''.join(tail)}"


def _marker(before: int, omitted: int, after: int, note: str) -> str:
    first, last = before + 1, before + omitted
    told = f"; {note}".replace("{first}", str(first)).replace("{last}", str(last)) if note else ""
    return f"... {omitted} lines omitted ({first}-{last} of {last + after}){told} ...\n"


def cut_end(text: str, *, limit: int) -> str:
    """Keep the start of `text` so that it costs at most `limit` tokens, with a marker that tells how much is missing."""
    if count_tokens(text) <= limit:
        return text
    room = max(0, limit - 8)
    end = 0
    for number, piece in enumerate(_PIECE.finditer(text)):
        if number >= room:
            break
        end = piece.end()
    return f"{text[:end]} ... {len(text) - end} characters omitted"


def _lines_in(line: str) -> int:
    """How many lines of the first text a line stands for: a marker of an earlier cut stands for all that it took."""
    marker = re.match(_MARKER, line) if line.startswith("... ") else None
    return int(marker[1]) if marker else 1


def _take(lines: list[str], room: int) -> list[str]:
    """The first lines that cost at most `room` tokens together."""
    taken: list[str] = []
    for line in lines:
        room -= _counted(line)
        if room < 0:
            break
        taken.append(line)
    return taken
