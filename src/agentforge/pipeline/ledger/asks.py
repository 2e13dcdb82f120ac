"""The asks of a request: sentences, list items, examples and code with their lead-in, each a stretch of the request. Pure.

A request cut into blocks by its layout: paragraphs, list items, code, tables, headings. Pure; no word is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from agentforge.frozen import dataclass

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
        end = match.end()
        if end == len(text) or _INITIAL.match(text[max(0, match.start() - 2) : match.start() + 1]):
            continue
        if not text[end].islower() or _NAME.match(text, end):
            yield end


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


Kind = Literal["text", "item", "code", "table", "heading"]

_QUOTE = re.compile(r"\s{0,3}(?:>[ \t]?)+")
_FENCE = re.compile(r"\s*(?P<sign>`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}[ \t]+")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-+)\s*")
_RULE = re.compile(r"\s{0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\s*")
_ITEM = re.compile(r"\s*(?:[-*+•‣]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_TABLE = re.compile(r"\s*\|")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
_EXAMPLE = re.compile(
    r"\s*`?[A-Za-z_][\w.]*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(?:\.\w+(?:\([^()]*\))?)*`?\s*(?:-+>|=+>|={1,3}|→|⇒)\s*\S"
)
"""A line that is an example as a whole: a call, an arrow or an equals sign, a result."""
_STOPS = (".", "!", "?", ":")
"""Behind other signs a line that looks like an example may be the middle of a sentence."""
_PROMPT = re.compile(r"\s*(?:>>>|\$)[ \t]+\S")
_FENCE_OF_OTHERS = re.compile(r"</?untrusted \S+>\s*")
_COMMENT, _COMMENT_ENDS = re.compile(r"\s*<!--"), "-->"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBlock:
    """A stretch of a text, `start` to `end` (offsets), without the signs that make it what it is at its ends."""

    start: int
    end: int
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line of the text: where its content begins behind quotation marks, and where it ends without white space."""

    start: int
    end: int
    text: str
    quoted: bool


def blocks_of(text: str) -> tuple[RequestBlock, ...]:
    """Cut a text into blocks, in order and without overlaps.

    Left out is markup alone: empty lines, rules, list signs, the signs of headings and quotations, comments, and the lines
    that fence what others wrote.
    """
    lines = list(_lines(text))
    found: list[RequestBlock] = []
    number = 0
    while number < len(lines):
        block, number = _block_at(lines, number)
        if block is not None and block.end > block.start:
            found.append(block)
    return tuple(found)


def _lines(text: str) -> Iterator[_Line]:
    """Lines of the text; a `>` at the beginning is a quotation, unless it is the prompt of an example."""
    start = 0
    for raw in text.splitlines(keepends=True):
        quote = None if raw.lstrip().startswith(">>>") else _QUOTE.match(raw)
        skip = quote.end() if quote else 0
        yield _Line(start=start + skip, end=start + len(raw.rstrip()), text=raw[skip:].rstrip(), quoted=bool(quote))
        start += len(raw)


def _block_at(lines: list[_Line], number: int) -> tuple[RequestBlock | None, int]:
    """The block that begins with a line, and the number of the line behind it."""
    line = lines[number]
    if not line.text.strip() or _FENCE_OF_OTHERS.fullmatch(line.text):
        return None, number + 1
    if _COMMENT.match(line.text):
        return None, _behind_comment(lines, number)
    fence = _FENCE.match(line.text)
    if fence:
        last = _end_of_fence(lines, number, fence.group("sign"))
        return _spanning(lines, number, last, "code"), last + 1
    if _RULE.fullmatch(line.text):
        return None, number + 1
    heading = _HEADING.match(line.text)
    if heading:
        return RequestBlock(start=line.start + heading.end(), end=line.end, kind="heading"), number + 1
    for pattern, kind in _RUNS:
        if pattern.match(line.text):
            last = _last_of_run(lines, number, pattern)
            return _spanning(lines, number, last, kind), last + 1
    return _prose(lines, number)


_RUNS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (_TABLE, "table"),
    (_PROMPT, "code"),
    (_EXAMPLE, "code"),
    (_INDENTED, "code"),
)
"""Blocks that are runs of lines of one look."""


def _behind_comment(lines: list[_Line], number: int) -> int:
    """The number of the line behind a comment; one that never ends is a comment of one line."""
    for place in range(number, len(lines)):
        if _COMMENT_ENDS in lines[place].text:
            return place + 1
    return number + 1


def _end_of_fence(lines: list[_Line], number: int, sign: str) -> int:
    closing = re.compile(rf"\s*{re.escape(sign[0])}{{{len(sign)},}}\s*")
    for place in range(number + 1, len(lines)):
        if closing.fullmatch(lines[place].text):
            return place
    return len(lines) - 1


def _last_of_run(lines: list[_Line], number: int, pattern: re.Pattern[str]) -> int:
    """The last line of a run; what stands directly below a prompt is what it printed."""
    last = number
    for place in range(number + 1, len(lines)):
        text = lines[place].text
        goes_on = bool(text.strip()) if pattern is _PROMPT else bool(pattern.match(text))
        behind_gap = pattern is _INDENTED and not text.strip()
        if not goes_on and not behind_gap:
            break
        last = place if goes_on else last
    return last


def _prose(lines: list[_Line], number: int) -> tuple[RequestBlock, int]:
    """A paragraph or a list item: up to an empty line or to a line that begins something else."""
    item = _ITEM.match(lines[number].text)
    start = lines[number].start + (item.end() if item else 0)
    last = number
    for place in range(number + 1, len(lines)):
        text = lines[place].text
        if not item and _UNDERLINE.fullmatch(text) and text.strip() and place == number + 1:
            return RequestBlock(start=_first(lines[number], start), end=lines[last].end, kind="heading"), place + 1
        if not text.strip() or _begins(lines[place], after=lines[place - 1]):
            break
        last = place
    return RequestBlock(
        start=_first(lines[number], start), end=lines[last].end, kind="item" if item else "text"
    ), last + 1


def _begins(line: _Line, *, after: _Line) -> bool:
    """Whether a line cannot go on with the paragraph of the line before it."""
    starts = (_FENCE, _HEADING, _ITEM, _TABLE, _PROMPT, _COMMENT)
    alone = _RULE.fullmatch(line.text) or _FENCE_OF_OTHERS.fullmatch(line.text)
    example = after.text.endswith(_STOPS) and _EXAMPLE.match(line.text)
    return bool(line.quoted != after.quoted or alone or example or any(one.match(line.text) for one in starts))


def _first(line: _Line, start: int) -> int:
    """Where the content of a line begins behind white space, at or behind `start`."""
    rest = line.text[start - line.start :]
    return start + len(rest) - len(rest.lstrip())


def _spanning(lines: list[_Line], first: int, last: int, kind: Kind) -> RequestBlock:
    return RequestBlock(start=_first(lines[first], lines[first].start), end=lines[last].end, kind=kind)
