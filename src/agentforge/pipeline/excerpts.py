"""Views of source for a context: whole functions around named symbols and lines, small files whole, tests and their place."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.context.sections import Level, View, Want, view_of
from agentforge.tokens import count_tokens

if TYPE_CHECKING:
    from agentforge.workspace.relevance import Candidate
    from agentforge.workspace.symbols import Symbol

_SMALL_FILE = 900
"""Tokens up to which a named file is shown whole."""
_SMALL_CLASS = 60  # lines
_CLOSE = 2  # lines on each side of a named line that come before everything else
_AROUND = 8  # lines on each side of a line that matters
_PARAGRAPH = 15  # the same in a document
_HEAD = 60  # lines of imports and constants at most
_END = 24  # lines at the end of a test file
_MOST_CALLED = 8  # definitions
_DEPTH = 4
"""So many definitions of a likely file come before the first of the next one: depth before breadth."""
_LONG_CALLED = 40  # lines
_SIGNATURE = 3
_MOST_TESTS = 400
_TEST_FILES = 3
_DEFINING = (
    "def ",
    "class ",
    "async def ",
    "@",
    "function ",
    "export ",
    "func ",
    "fn ",
    "pub ",
    "describe(",
    "test(",
    "it(",
)
_IMPORTING = ("import ", "from ", "use ", "#include", "package ", "const ", "require", "'use strict'", '"use strict"')
_FIXTURES = ("fixture", "setUp", "setup", "before", "Before")

_EDGE, _WHOLE, _HEADING, _REST = 0, 1, 2, 100
"""In which order the ranges of one level are served: the lines that matter, whole definitions, the file's head, what is left."""


def code_view(
    root: Path,
    path: str,
    *,
    names: Iterable[str] = (),
    lines: Iterable[int] = (),
    level: Level = Level.NAMED,
    state: str = "",
) -> View | None:
    """A view of a file around what was named in it; None where it is not a readable text.

    Args:
        names: dotted names of symbols, or words of a document, that must be seen.
        lines: numbers of lines that matter.
        level: of what was named, and of what it calls in the same file.
    """
    text = _text(root, path)
    if text is None:
        return None
    symbols = _symbols(path, text)
    count = text.count("\n") + 1
    if count_tokens(text) <= _SMALL_FILE:
        wants = [Want(first=1, last=count, level=level, order=_WHOLE, why="a small file that was named")]
    else:
        wants = list(_wants(text, symbols, list(names), [line for line in lines if 0 < line <= count], level))
        wants += _called(text, symbols, wants, level)
    return _view(root, path, text, wants, symbols=symbols, state=state)


def _wants(text: str, symbols: Sequence[Symbol], names: list[str], lines: list[int], level: Level) -> Iterator[Want]:
    """The ranges around names and lines."""
    found = [(symbol, 0) for name in names for symbol in definitions_of(symbols, name)]
    unknown = [name for name in names if not definitions_of(symbols, name)]
    inside = {line: symbol for line in lines if (symbol := _innermost(symbols, line)) is not None}
    for line, symbol in inside.items():
        why = "a named line"
        yield Want(first=line - _CLOSE, last=line + _CLOSE, level=level, order=_EDGE, focus=line, why=why)
        yield Want(first=line - _AROUND, last=line + _AROUND, level=level, order=_WHOLE, focus=line, why=why)
        found = [
            *((one, known or line if one == symbol else known) for one, known in found if one != symbol),
            (symbol, line),
        ]
    for symbol, line in found:
        yield from _definition(symbols, symbol, line, level)
    free = [line for line in lines if line not in inside] or ([] if found else _lines_with(text, unknown))
    for line in free:
        first, last = line - _PARAGRAPH, line + _PARAGRAPH
        why = "around a named line"
        yield Want(first=line - _CLOSE, last=line + _CLOSE, level=level, order=_EDGE, focus=line, why=why)
        yield Want(first=first, last=last, level=level, order=_WHOLE, focus=line, why=why)
    if symbols:
        first, last = _head(text)
        yield Want(first=first, last=last, level=level, order=_HEADING, why="imports")


def _definition(symbols: Sequence[Symbol], symbol: Symbol, line: int, level: Level) -> Iterator[Want]:
    """A definition whole, its first lines before all else; of a long class what stands before its members."""
    why = f"{symbol.qualified} was named"
    first_lines = min(symbol.end_line, symbol.line + _SIGNATURE)
    yield Want(first=symbol.line, last=first_lines, level=level, order=_EDGE, why=why)
    for around in symbols:
        if around.qualified == symbol.parent and around.line <= symbol.line <= around.end_line:
            yield Want(first=around.line, last=around.line, level=level, order=_EDGE, why=f"{around.name} is around it")
    members = _members(symbols, symbol)
    if _is_long(symbol) and members:
        head = min(one.line for one in members) - 1
        yield Want(first=symbol.line, last=min(head, symbol.line + _HEAD), level=level, order=_HEADING, why=why)
        for place, one in enumerate(members):
            order = _REST + place
            yield Want(
                first=one.line, last=one.end_line, level=Level.LIKELY, order=order, why=f"a member of {symbol.name}"
            )
        return
    yield Want(first=symbol.line, last=symbol.end_line, level=level, order=_WHOLE, focus=line, why=why)


def _is_long(symbol: Symbol) -> bool:
    return symbol.kind == "class" and symbol.end_line - symbol.line > _SMALL_CLASS


def _members(symbols: Sequence[Symbol], around: Symbol) -> list[Symbol]:
    return [one for one in symbols if one.parent == around.qualified and one.kind != "variable" and _holds(around, one)]


def _called(text: str, symbols: Sequence[Symbol], wants: Sequence[Want], level: Level) -> list[Want]:
    """The definitions of the same file that the named ones speak of, the nearest first, as whole as they are."""
    named = [want.focus or want.first for want in wants if want.order != _HEADING]
    rows = text.split("\n")
    if not symbols:
        alone = Want(first=1, last=len(rows), level=Level.LIKELY, order=_REST, focus=1, why="its file was named")
        return [] if named else [alone]
    units = [one for one in symbols if not (_is_long(one) and _members(symbols, one))]
    tops = [one for one in units if not any(_holds(other, one) for other in units)]
    if not named:
        why = "its file was named"
        return [
            Want(first=one.line, last=one.end_line, level=Level.LIKELY, order=_REST + place, why=why)
            for place, one in enumerate(tops)
        ]
    inside = [one for one in tops if any(one.line <= line <= one.end_line for line in named)]
    spoken = {name for name in _names_in(rows, inside) if not name.startswith("__")}
    called = [one for one in tops if one.name in spoken and one not in inside]
    called.sort(key=lambda one: min((abs(one.line - line) for line in named), default=0))
    why = "what was named speaks of it"
    return [
        Want(first=one.line, last=one.end_line, level=level, order=_REST + place, why=why)
        for place, one in enumerate(called[:_MOST_CALLED])
        if one.end_line - one.line <= _LONG_CALLED
    ]


def _names_in(rows: Sequence[str], symbols: Iterable[Symbol]) -> set[str]:
    return {word for one in symbols for row in rows[one.line - 1 : one.end_line] for word in re.findall(r"\w+", row)}


def _holds(outer: Symbol, inner: Symbol) -> bool:
    return outer is not inner and outer.line <= inner.line and inner.end_line <= outer.end_line


def definitions_of(symbols: Sequence[Symbol], name: str) -> list[Symbol]:
    """The definitions of a name, `f`, `A` or `A.f`: all of them where it is overloaded or defined under a condition."""
    exact = [symbol for symbol in symbols if symbol.qualified == name or symbol.qualified.endswith(f".{name}")]
    last = name.rpartition(".")[2]
    return exact or [symbol for symbol in symbols if symbol.name == last]


def _innermost(symbols: Sequence[Symbol], line: int) -> Symbol | None:
    around = [one for one in symbols if one.line <= line <= one.end_line and one.kind != "variable"]
    around = around or [one for one in symbols if one.line <= line <= one.end_line]
    return max(around, key=lambda one: one.line, default=None)


def _lines_with(text: str, words: Iterable[str]) -> list[int]:
    """The first line on which each word stands."""
    rows = text.split("\n")
    found = (next((number for number, row in enumerate(rows, start=1) if word in row), 0) for word in words if word)
    return [number for number in found if number]


def _head(text: str) -> tuple[int, int]:
    """What stands before the first function or class: imports and constants, without the licence and the long words before."""
    lines = text.split("\n")
    end = next((index for index, line in enumerate(lines) if line.startswith(_DEFINING)), min(40, len(lines)))
    start = next((index for index, line in enumerate(lines[:end]) if line.startswith(_IMPORTING)), 0)
    return start + 1, min(max(end, start + 1), start + _HEAD)


# -- candidates


def candidate_text(candidate: Candidate, *, symbols: int) -> str:
    """A candidate file with its best symbols, one line each."""
    lines = [candidate.path + (" (tests)" if candidate.is_test else "")]
    for symbol in candidate.symbols[:symbols]:
        doc = f"  # {symbol.doc}" if symbol.doc else ""
        lines.append(f"  {symbol.line}-{symbol.end_line} {symbol.signature}{doc}")
    return "\n".join(lines)


def likely_views(root: Path, candidates: Sequence[Candidate], *, named: Iterable[str] = ()) -> list[View]:
    """Views of the best candidates: their fitting definitions whole, in the order of how well they fit.

    Args:
        named: words of the request; symbols that bear one of them come first.
    """
    words = {word.rpartition(".")[2] for word in named}
    views = []
    for place, candidate in enumerate(candidates):
        text = _text(root, candidate.path)
        if text is None:
            continue
        symbols = _symbols(candidate.path, text)
        fitting = [one for one in candidate.symbols if one.kind != "variable"]
        fitting.sort(key=lambda one: (one.name not in words, one.kind == "class"))
        count = text.count("\n") + 1
        wants = [
            Want(
                first=one.line,
                last=one.end_line,
                level=Level.LIKELY,
                order=1 + _DEPTH * place + rank,
                why="it fits the request",
            )
            for rank, one in enumerate(fitting)
            if not _is_long(one)
        ]
        if count_tokens(text) <= _SMALL_FILE:
            order = 1 + _DEPTH * (place + 1)
            wants.append(Want(first=1, last=count, level=Level.LIKELY, order=order, why="a small file that fits"))
        wants += [
            replace(want, order=2 + _DEPTH * place + rank)
            for rank, want in enumerate(_called(text, symbols, wants[:_DEPTH], Level.LIKELY))
        ]
        view = _view(root, candidate.path, text, wants, symbols=symbols, state="as at the base")
        views.append(view)
    return views


# -- tests


def style_views(
    root: Path,
    *,
    near: Iterable[str],
    tests: Iterable[str],
    names: Iterable[str] = (),
    named: Iterable[str] = (),
    words: Iterable[str] = (),
) -> list[View]:
    """The test file that shows how the named symbols are tested: its imports and fixtures, the nearest test, its end.

    Of the next two files imports and end are likely wanted: a model may know better where its tests belong.

    Args:
        near: product files; a test file that speaks of one is likely theirs.
        tests: the test files that are known.
        names: symbols that matter.
        named: test files that earlier artifacts named; they come before all others.
        words: of the request.
    """
    symbols = [word for word in dict.fromkeys(part for name in names for part in name.split(".")) if word.strip("_")]
    symbols = [word for word in symbols if not word.startswith("__")]
    stems = [stem for path in near if (stem := Path(path).stem.strip("_")) not in ("", "index", "mod", "lib")]
    weights = dict.fromkeys(words, 0.25) | dict.fromkeys(stems, 0.5) | dict.fromkeys(symbols, 1.0)
    views = []
    for place, path in enumerate(_test_files(root, list(tests), weights, stems, list(named))):
        text = _text(root, path) or ""
        found = _symbols(path, text)
        count = len(text.rstrip("\n").split("\n"))
        if place:
            wants = [replace(want, level=Level.LIKELY) for want in _place_of_tests(text, found, count)]
        elif count_tokens(text) <= _SMALL_FILE:
            wants = [Want(first=1, last=count, level=Level.NAMED, order=_EDGE, why="how tests look here")]
        else:
            wants = [*_place_of_tests(text, found, count), *_near_tests(text, found, symbols)]
        views.append(_view(root, path, text, wants, symbols=found, state="how tests look here; new ones go to its end"))
    return views


def _test_files(
    root: Path, tests: list[str], weights: Mapping[str, float], stems: list[str], named: list[str]
) -> list[str]:
    """The test files that most likely test what matters, the best first: those that speak of it, rare words more."""
    from agentforge.workspace.symbols import language_of

    fitting = [
        path for path in dict.fromkeys((*named, *tests)) if language_of(path) and not path.endswith("__init__.py")
    ]
    read = ((path, _text(root, path)) for path in fitting)
    present = dict(islice(((path, text) for path, text in read if text is not None), _MOST_TESTS))
    speech = {path: Counter(re.findall(r"\w+", text)) for path, text in present.items()}
    rare = {word: math.log(1 + len(present) / (1 + sum(word in said for said in speech.values()))) for word in weights}

    def score(path: str) -> float:
        said, name = speech[path], Path(path).stem
        spoken = sum(weight * rare[word] * said[word] / (said[word] + 2) for word, weight in weights.items())
        kin = any(stem.lower() in name.lower() for stem in stems)
        helps = "test" not in name.lower() and "spec" not in name.lower()
        return 50.0 * (path in named) + spoken + kin - 3.0 * (name == "conftest") - helps

    return sorted(present, key=lambda path: (-score(path), -speech[path].total(), path))[:_TEST_FILES]


def _place_of_tests(text: str, symbols: Sequence[Symbol], count: int) -> Iterator[Want]:
    """A test file's imports, and its end with the last test whole."""
    first, last = _head(text)
    yield Want(first=first, last=last, order=_EDGE, why="imports of the tests")
    tops = [one for one in symbols if one.kind in ("function", "method")]
    start = max((one.line for one in tops if one.line <= count - _END // 2), default=count - _END)
    yield Want(first=max(start, count - 3 * _END), last=count, order=_EDGE, focus=count, why="where tests are added")


def _near_tests(text: str, symbols: Sequence[Symbol], words: list[str]) -> Iterator[Want]:
    """The test that speaks most of what matters, the fixtures, and further tests of the same things."""
    rows = text.split("\n")
    tops = [one for one in symbols if one.kind in ("function", "method")]
    near = sorted(tops, key=lambda one: (-_spoken(rows[one.line - 1 : one.end_line], words), one.end_line - one.line))
    for one in near[:1]:
        yield Want(first=one.line, last=one.end_line, order=_WHOLE, focus=one.line, why="the nearest test")
    for one in tops:
        if any(word in row for row in rows[one.line - 1 : one.line + 1] for word in _FIXTURES):
            yield Want(first=one.line, last=one.end_line, order=_HEADING, why="a fixture")
    for place, one in enumerate(near[1:4]):
        yield Want(first=one.line, last=one.end_line, level=Level.LIKELY, order=place, why="a test of the same things")


def _spoken(rows: list[str], words: list[str]) -> int:
    text = "\n".join(rows)
    return sum(bool(re.search(rf"\b{re.escape(word)}\b", text)) for word in words)


def frozen_view(root: Path, path: str, names: Iterable[str], *, whole: int) -> View | None:
    """A frozen test file: all of it up to `whole` tokens, else the named tests with what they name, and the file's head."""
    text = _text(root, path)
    if text is None:
        return None
    symbols, count = _symbols(path, text), text.count("\n") + 1
    wants = [Want(first=1, last=count, level=Level.LAW, why="frozen tests")]
    if count_tokens(text) > whole:
        wants = _declared(text, symbols, [one for name in names for one in definitions_of(symbols, name)], count)
    return _view(root, path, text, wants, symbols=symbols, state="frozen tests")


def _declared(text: str, symbols: Sequence[Symbol], tests: list[Symbol], count: int) -> list[Want]:
    """The declared tests of a long file, what they use, and its imports; without any, its imports and its end."""
    rows = text.split("\n")
    spoken = _names_in(rows, tests)
    aids = [one for one in symbols if one.name in spoken and not one.parent and one not in tests]
    uses = "a frozen test uses it"
    return [
        *(Want(first=one.line, last=one.end_line, level=Level.LAW, why="a frozen test") for one in tests),
        *(Want(first=one.line, last=min(one.end_line, one.line + _HEAD), why=uses) for one in aids),
        *islice(_place_of_tests(text, symbols, count), 1 if tests else 2),
    ]


# -- files


def _view(root: Path, path: str, text: str, wants: Iterable[Want], *, symbols: Sequence[Symbol], state: str) -> View:
    from agentforge.workspace.files import digest_file

    names = {one.line: one.qualified for one in symbols if one.kind != "variable"}
    return view_of(path, text, wants, digest=digest_file(root / path), names=names, state=state)


def _symbols(path: str, text: str) -> Sequence[Symbol]:
    from agentforge.workspace.symbols import outline_of

    return outline_of(path, text).symbols


def _text(root: Path, path: str) -> str | None:
    from agentforge.workspace.symbols import read_source

    return read_source(root, path)
