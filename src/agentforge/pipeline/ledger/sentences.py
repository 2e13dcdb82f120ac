"""Where sentences end, told by punctuation and by what follows it. Pure; no word is looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ENDS = re.compile(r"(?:[.!?…]+[)\]\"'’”»`*_]*(?=\s)|[。！？]+[」』）]*)\s*")
_INITIAL = re.compile(r"(?:^|[\s(\[.\"'])[^\W\d_]\.$")
"""A letter of its own before the full stop: `e.g.`, `z. B.`, `J. Doe`."""
_NAME = re.compile(r"[A-Za-z]\w*(?:\(|\.\w|/\w)|\w*_\w|[a-z]+[A-Z]")
"""What begins in small letters and is a name all the same: `slugify(`, `basket.py`, `max_items`, `cityOf`."""
_QUOTED = re.compile(
    r"`+[^`\n]*`+|(?<!\w)'(?:[^'\\\n]|\\.)*'(?!\w)|(?<!\w)\"(?:[^\"\\\n]|\\.)*\"(?!\w)|\([^()\n]*\)|\[[^\[\]\n]*\]|\{[^{}\n]*\}"
)
_WORD = re.compile(r"\w+")
_LEAST_WORDS = 2


def sentences_of(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of a stretch of a text, as (start, end) offsets without white space around them.

    A stretch of one word belongs to the sentence before it, or to the one behind it where it is the first.
    """
    cuts = [*_cuts(text[start:end]), end - start]
    first = 0
    for number, cut in enumerate(cuts):
        rest = text[start + cut : end]
        behind = text[start + cut : start + (cuts[number + 1] if number + 1 < len(cuts) else cut)]
        if rest.strip() and (_is_one_word(text[start + first : start + cut]) or _is_one_word(behind)):
            continue
        piece = text[start + first : start + cut]
        if piece.strip():
            left = start + first + len(piece) - len(piece.lstrip())
            yield left, left + len(piece.strip())
        first = cut


def _is_one_word(text: str) -> bool:
    """Whether a text has one word or none, in a script that parts its words."""
    return text.isascii() and len(_WORD.findall(text)) < _LEAST_WORDS


def _cuts(text: str) -> Iterator[int]:
    """Offsets at which a new sentence begins."""
    masked = _QUOTED.sub(lambda match: "\x00" * len(match.group()), text)
    for match in _ENDS.finditer(masked):
        behind = text[match.end() :]
        if not behind or _INITIAL.search(text[: match.start() + 1]):
            continue
        if not behind[0].islower() or _NAME.match(behind):
            yield match.end()
