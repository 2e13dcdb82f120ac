"""The asks of a request: sentences, list items, examples and code with their lead-in, each a stretch of the request. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from agentforge.frozen import dataclass
from agentforge.pipeline.ledger.blocks import RequestBlock, blocks_of

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


AskKind = Literal["sentence", "item", "code", "table"]
_MOST = 40
"""Asks of one request; in a longer one, neighbours are taken together."""
_LEADS = (":", "：")
_VALUE = re.compile(
    r"`+(?P<code>[^`\n]+)`+|(?<!\w)'(?P<single>(?:[^'\\\n]|\\.)*)'(?!\w)|(?<!\w)\"(?P<double>(?:[^\"\\\n]|\\.)*)\"(?!\w)"
    r"|(?<![\w.#-])(?P<number>-?\d+(?:\.\d+)?)(?!\w)(?!\.\d)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAsk:
    """One thing that the request says.

    Attributes:
        number: from 1, in the order of the request.
        start, end: offsets in the request.
        kind: of its last part: a sentence that leads a block of code in belongs to the code.
    """

    number: int
    start: int
    end: int
    kind: AskKind


_Span = tuple[int, int, AskKind]


def asks_of(request: str) -> tuple[RequestAsk, ...]:
    """Split a request into asks, in order and without overlaps; everything that is not markup is in one of them.

    A heading and a sentence that ends in a colon belong to what follows them, a block of code or a table to the sentence before.
    """
    blocks = blocks_of(request)
    spans = _spans(request, blocks, sentences=True)
    if len(spans) > _MOST:
        spans = _spans(request, blocks, sentences=False)
    if len(spans) > _MOST:
        spans = _together(spans)
    return tuple(
        RequestAsk(number=number, start=start, end=end, kind=kind)
        for number, (start, end, kind) in enumerate(spans, start=1)
    )


def numbered(request: str, asks: Sequence[tuple[int, int]]) -> str:
    """The request with the number of each ask before it; of a single ask there is nothing to number.

    Args:
        asks: (number, start) of each.
    """
    if len(asks) < 2:
        return request
    parts, last = [], 0
    for number, start in asks:
        parts += [request[last:start], f"[ask {number}] "]
        last = start
    return "".join([*parts, request[last:]])


def values_of(text: str) -> tuple[str, ...]:
    """The code spans, quoted texts and numbers of a text, without their quotes, each once."""
    found = [next((one for one in match.groups() if one is not None), "") for match in _VALUE.finditer(text)]
    return tuple(dict.fromkeys(one for one in found if one))


def _spans(request: str, blocks: Sequence[RequestBlock], *, sentences: bool) -> list[_Span]:
    """The stretches of the asks.

    Args:
        sentences: False takes each paragraph and item as one.
    """
    found: list[_Span] = []
    lead: int | None = None  # where a heading or a lead-in begins that belongs to what follows
    follows = False  # whether a sentence stands directly before this block
    for block in blocks:
        if block.kind == "heading":
            lead, follows = block.start if lead is None else lead, False
            continue
        if block.kind in ("code", "table"):
            kind: AskKind = "code" if block.kind == "code" else "table"
            if lead is None and follows:
                found[-1] = (found[-1][0], block.end, kind)
            else:
                found.append((block.start if lead is None else lead, block.end, kind))
            lead, follows = None, False
            continue
        parts = [(block.start, block.end)]
        parts = list(sentences_of(request, block.start, block.end)) if sentences else parts
        for start, end in parts:
            begins = start if lead is None else lead
            lead = begins if request[start:end].rstrip("*_ ").endswith(_LEADS) else None
            if lead is None:
                found.append((begins, end, "item" if block.kind == "item" else "sentence"))
        follows = lead is None
    if lead is not None and blocks:
        found.append((lead, blocks[-1].end, "sentence"))
    return found


def _together(spans: list[_Span]) -> list[_Span]:
    """The same stretches in as many groups of neighbours as there may be asks."""
    size = -(-len(spans) // _MOST)
    groups = [spans[place : place + size] for place in range(0, len(spans), size)]
    return [(group[0][0], group[-1][1], group[-1][2]) for group in groups]
