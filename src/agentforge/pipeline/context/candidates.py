"""Views of the files that a request is likely about: over all files the bodies that fit best, then what is around them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.context.sections import Level, View, Want
from agentforge.pipeline.context.excerpts import (
    AROUND,
    CLOSE,
    SIGNATURE,
    SMALL_FILE,
    file_view,
    is_long,
    members_of,
    source_text,
    symbols_of,
)
from agentforge.tokens import count_tokens
from agentforge.workspace.code.relevance import RelevantFile
from agentforge.workspace.code.symbols import Symbol

if TYPE_CHECKING:
    from agentforge.workspace.code.bodies import Body

_LONG = 1000
"""Tokens above which a body is shown by its first lines and the lines that speak of the request."""
_OF_LONG = 700
"""Tokens of a long body that are shown at most."""
_OF_CONSTANT, _OF_CONSTANTS = 150, 400
"""Tokens of a constant that is shown beside the body that names it, and of all that are."""
_OF_MENTION = 250
"""Tokens of a list or table that is shown whole because it names what the request names."""
_OF_NAMED = 1000
"""Tokens of a file that is shown whole, and soon, because the request names it."""
_SPOT = 4  # lines on each side of a line that speaks of the request
_CLASS_HEAD = 30  # lines of a long class between its docstring and its members
_SIGNATURE_MOST = 30  # lines
_QUOTES = re.compile(r"\s*[rRuU]?(\"{3}|'{3})(?!.*\1)")
_HEADING, _UNDERLINED = re.compile(r"#{1,6} \S"), re.compile(r"([=~^*+-])\1{2,}\s*")
_OF_CHANGES = re.compile(r"(?:change|history|news|release)[^/]*$", re.IGNORECASE)
_MENTIONS = 4
_DOCUMENT = 40  # lines of a document's head, or around the line of it that fits best
_LIKELY_DOCUMENTS = 2
"""Documents are shown that are named, or among so many of the likeliest files."""
_SOON, _LATER, _SMALL, _DOCUMENTS = 3, 40, 1000, 3000
"""The order of what is named, behind so many bodies; of the rest of long bodies; and behind all bodies that of small files whole,
and documents."""


def candidate_text(candidate: RelevantFile, *, symbols: int) -> str:
    """A candidate file with its best symbols, one line each."""
    lines = [candidate.path + (" (tests)" if candidate.is_test else "")]
    for symbol in candidate.symbols[:symbols]:
        doc = f"  # {symbol.doc}" if symbol.doc else ""
        lines.append(f"  {symbol.line}-{symbol.end_line} {symbol.signature}{doc}")
    return "\n".join(lines)


def likely_views(
    root: Path, candidates: Sequence[RelevantFile], likely: Sequence[Body], *, behind: int = 0
) -> list[View]:
    """Views of the best candidates; a body of the last file may come before one of the first.

    Args:
        likely: bodies of these files, the best first.
        behind: so many bodies of other candidates come first.
    """
    found: dict[str, list[tuple[int, Body]]] = defaultdict(list)
    for order, body in enumerate(likely, start=1 + behind):
        found[body.symbol.path].append((order, body))
    texts = [(place, one, source_text(root, one.path)) for place, one in enumerate(candidates)]
    return [_view(root, one, text, found[one.path], place, behind) for place, one, text in texts if text is not None]


def _view(
    root: Path, file: RelevantFile, text: str, found: Sequence[tuple[int, Body]], place: int, behind: int
) -> View:
    place, soon = place + behind, _SOON + behind
    symbols, count = symbols_of(file.path, text), text.count("\n") + 1
    if file.is_named and not file.lines and _cost(text.split("\n"), 1, count) <= _OF_NAMED:
        whole = Want(first=1, last=count, level=Level.LIKELY, order=_SOON, focus=1, why="the request names this file")
        return file_view(root, file.path, text, [whole], symbols=symbols, state="as at the base")
    wants = [want for order, body in found for want in _of_body(text, symbols, body, order)]
    wants += [_mention(text, symbols, line, soon) for line in file.mentions[:_MENTIONS]]
    wants += [_around(line, AROUND, "the request points here", soon) for line in file.lines[:_MENTIONS]]
    if not symbols:
        if file.is_named or place - behind < _LIKELY_DOCUMENTS:
            wants += _of_document(text, file, soon if file.is_named else _DOCUMENTS + place)
    elif count_tokens(text) <= SMALL_FILE:
        wants.append(Want(first=1, last=count, level=Level.LIKELY, order=_SMALL + place, why="a small file that fits"))
    return file_view(root, file.path, text, wants, symbols=symbols, state="as at the base")


def _of_document(text: str, file: RelevantFile, order: int) -> Iterator[Want]:
    """The section of a document that speaks most of the request; else, and of a list of changes, its head."""
    rows = text.split("\n")
    heads = [1, *(line for line in range(2, len(rows)) if _heads(rows, line)), len(rows) + 1]
    parts = [range(first, after) for first, after in pairwise(heads)]
    best = max(parts, key=lambda part: sum(file.told.get(line, 0.0) for line in part) / (_DOCUMENT + len(part)) ** 0.5)
    if _OF_CHANGES.search(file.path) or not any(line in file.told for line in best):
        head = min(len(rows), _DOCUMENT)
        yield Want(first=1, last=head, level=Level.LIKELY, order=order, focus=1, why="a document that fits")
        return
    focus = max(best, key=lambda line: (file.told.get(line, 0.0), -line))
    first, last = max(best.start, focus - _DOCUMENT // 2), min(best.stop - 1, focus + _DOCUMENT // 2)
    why = "the section speaks of the request"
    yield Want(first=best.start, last=best.start, level=Level.LIKELY, order=order, why=why)
    yield Want(first=first, last=last, level=Level.LIKELY, order=order, focus=focus, why=why)


def _heads(rows: Sequence[str], line: int) -> bool:
    """Whether a line is a heading of Markdown or reStructuredText."""
    row = rows[line - 1]
    return bool(_HEADING.match(row)) or bool(row.strip() and _UNDERLINED.fullmatch(rows[line]))


def _mention(text: str, symbols: Sequence[Symbol], line: int, order: int) -> Want:
    """A line that names what the request names, in a table that is not too long whole."""
    why, rows = "a name of the request stands here", text.split("\n")
    for one in symbols:
        if one.line <= line <= one.end_line and _cost(rows, one.line, one.end_line) <= _OF_MENTION:
            return Want(first=one.line, last=one.end_line, level=Level.LIKELY, order=order, focus=line, why=why)
    return _around(line, CLOSE, why, order)


def _around(line: int, lines: int, why: str, order: int) -> Want:
    return Want(first=line - lines, last=line + lines, level=Level.LIKELY, order=order, focus=line, why=why)


def _of_body(text: str, symbols: Sequence[Symbol], body: Body, order: int) -> Iterator[Want]:
    """A body whole; of a long class what stands before its members, of a long function the lines that speak of the request."""
    rows, symbol = text.split("\n"), body.symbol
    why = "it fits the request"
    inside, words = members_of(symbols, symbol), _docstring(rows, body.symbol)
    if is_long(symbol) and inside:
        first = words.stop if words else symbol.line + 1
        last = min(min(one.line for one in inside) - 1, first + _CLASS_HEAD)
        yield Want(first=symbol.line, last=symbol.line, level=Level.LIKELY, order=order, why=why)
        yield Want(first=first, last=last, level=Level.LIKELY, order=order, why=why)
        return
    spans = [(symbol.line, symbol.end_line)]
    if _cost(rows, *spans[0]) > _LONG:
        spans = [(symbol.line, symbol.line + SIGNATURE), *_spans(rows, body, words)]
        focus = spans[-1][0]
        yield Want(
            first=symbol.line, last=symbol.end_line, level=Level.LIKELY, order=_LATER + order, focus=focus, why=why
        )
    for first, last in spans:
        yield Want(first=first, last=last, level=Level.LIKELY, order=order, why=why)
    room = _OF_CONSTANTS
    for constant in body.speaks_of:
        cost = _cost(rows, constant.line, constant.end_line)
        if cost <= min(_OF_CONSTANT, room):
            room -= cost
            reason = f"{symbol.name} speaks of it"
            yield Want(first=constant.line, last=constant.end_line, level=Level.LIKELY, order=order, why=reason)


def _spans(rows: Sequence[str], body: Body, words: range) -> Iterator[tuple[int, int]]:
    """The lines around those of its code that speak of the request, as many as a long body may take.

    Args:
        words: the lines of its docstring.
    """
    room = _OF_LONG
    for line in body.spots:
        if line in words:
            continue
        first, last = max(body.symbol.line, line - _SPOT), min(body.symbol.end_line, line + _SPOT)
        room -= _cost(rows, first, last)
        if room < 0:
            return
        yield first, last


def _docstring(rows: Sequence[str], symbol: Symbol) -> range:
    """The lines of a docstring of more than one line; an empty range where there is none."""
    head = range(symbol.line, min(symbol.end_line, symbol.line + _SIGNATURE_MOST))
    for line in head:
        opened = _QUOTES.match(rows[line]) if rows[line - 1].rstrip().endswith(":") else None
        if opened is not None:
            ends = (end for end in range(line + 2, symbol.end_line + 1) if opened[1] in rows[end - 1])
            return range(line + 1, next(ends, line) + 1)
    return range(0)


def _cost(rows: Sequence[str], first: int, last: int) -> int:
    return sum(count_tokens(f"{number} {rows[number - 1]}") + 1 for number in range(first, min(last, len(rows)) + 1))
