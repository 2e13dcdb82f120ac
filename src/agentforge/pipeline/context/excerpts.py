"""Views of source for a context: whole functions around named symbols and lines, small files whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from agentforge.context.sections import Level, View, Want, view_of
from agentforge.tokens import count_tokens
from agentforge.workspace.code.symbols import Symbol, outline_of, read_source
from agentforge.workspace.files.file_access import digest_file

SMALL_FILE = 900
"""Tokens up to which a named file is shown whole."""
_SMALL_CLASS = 60  # lines
CLOSE = 2  # lines on each side of a named line that come before everything else
AROUND = 8  # lines on each side of a line that matters
_PARAGRAPH = 15  # the same in a document
_SECTION = 60  # lines of a section on each side
_HEADING_MARK = re.compile(r"#{1,6}\s|={1,6}\s")
_UNDERLINE = re.compile(r"([=\-~^\"'#*+.:_])\1{2,}")
HEAD = 60  # lines of imports and constants at most
_MOST_CALLED = 8  # definitions
_LONG_CALLED = 40  # lines
SIGNATURE = 3
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
_PASSED_ON = ("pub use ", "pub mod ", "pub extern crate ", "export * from ", "export {")
"""What looks as if it defined something, and stands among the imports."""
_IMPORTING = ("import ", "from ", "use ", "#include", "package ", "const ", "require", "'use strict'", '"use strict"')

EDGE, _NEAR, WHOLE, BESIDE, HEADING, REST = 0, 1, 2, 3, 4, 100
"""In which order the ranges of one level are served: the lines that matter, those near them, whole definitions, those only
spoken of, the file's head, what is left."""


def code_view(
    root: Path,
    path: str,
    *,
    names: Iterable[str] = (),
    lines: Iterable[int] = (),
    changed: Iterable[str] = (),
    level: Level = Level.NAMED,
    state: str = "",
) -> View | None:
    """A view of a file around what was named in it; None where it is not a readable text.

    Args:
        names: dotted names of symbols, or words of a document, that must be seen.
        lines: numbers of lines that matter.
        changed: the names of what is to be changed: these definitions are whole before others are; () = all are alike.
        level: of what was named, and of what it calls in the same file.
    """
    text = source_text(root, path)
    if text is None:
        return None
    symbols = symbols_of(path, text)
    count = text.count("\n") + 1
    lines = [line for line in lines if 0 < line <= count]
    wants = list(_wants(text, symbols, list(names), lines, level, frozenset(changed)))
    if count_tokens(text) <= SMALL_FILE:
        why, focus = "a small file that was named", min(lines, default=0)
        wants.append(Want(first=1, last=count, level=level, order=WHOLE, focus=focus, why=why))
    else:
        wants += _called(text, symbols, wants, level)
    return file_view(root, path, text, wants, symbols=symbols, state=state)


def _wants(
    text: str, symbols: Sequence[Symbol], names: list[str], lines: list[int], level: Level, changed: frozenset[str]
) -> Iterator[Want]:
    """The ranges around names and lines."""
    first_of_all = {symbol.line for name in changed for symbol in definitions_of(symbols, name)}
    found = [(symbol, 0) for name in names for symbol in definitions_of(symbols, name)]
    unknown = [name for name in names if not definitions_of(symbols, name)]
    inside = {line: symbol for line in lines if (symbol := _innermost(symbols, line)) is not None}
    for line, symbol in inside.items():
        why = "a named line"
        yield Want(first=line - CLOSE, last=line + CLOSE, level=level, order=EDGE, focus=line, why=why)
        yield Want(first=line - AROUND, last=line + AROUND, level=level, order=_NEAR, focus=line, why=why)
        found = [
            *((one, known or line if one == symbol else known) for one, known in found if one != symbol),
            (symbol, line),
        ]
    for symbol, line in found:
        order = WHOLE if not first_of_all or symbol.line in first_of_all else BESIDE
        yield from _definition(symbols, symbol, line, level, order=order)
    free = [line for line in lines if line not in inside] or ([] if found else _lines_with(text, unknown))
    for line in free:
        why = "around a named line"
        for distance, order in ((CLOSE, EDGE), (AROUND, _NEAR), (_PARAGRAPH, WHOLE)):
            yield Want(first=line - distance, last=line + distance, level=level, order=order, focus=line, why=why)
        if not symbols:
            first, last = _section(text, line)
            yield Want(first=first, last=last, level=level, order=BESIDE, focus=line, why="the section around it")
    if symbols:
        first, last = head_of(text)
        yield Want(first=first, last=last, level=level, order=HEADING, why="imports")


def _section(text: str, line: int) -> tuple[int, int]:
    """The section of a document around a line, from its heading to the next one, and at most so many lines on each side."""
    rows, headings, fenced = text.split("\n"), [1], False
    for number, row in enumerate(rows, start=1):
        fenced ^= row.lstrip().startswith(("```", "~~~"))
        below = rows[number] if number < len(rows) else ""
        if not fenced and (_HEADING_MARK.match(row) or (row.strip() and _UNDERLINE.fullmatch(below.rstrip()))):
            headings.append(number)
    first = max(one for one in headings if one <= line)
    last = min((one - 1 for one in headings if one > line), default=len(rows))
    return max(first, line - _SECTION), min(last, line + _SECTION)


def _definition(symbols: Sequence[Symbol], symbol: Symbol, line: int, level: Level, *, order: int) -> Iterator[Want]:
    """A definition whole, its first lines before all else; of a long class what stands before its members."""
    why = f"{symbol.qualified} was named"
    first_lines = min(symbol.end_line, symbol.line + SIGNATURE)
    yield Want(first=symbol.line, last=first_lines, level=level, order=EDGE, why=why)
    for around in symbols:
        if around.qualified == symbol.parent and around.line <= symbol.line <= around.end_line:
            yield Want(first=around.line, last=around.line, level=level, order=EDGE, why=f"{around.name} is around it")
    members = members_of(symbols, symbol)
    if is_long(symbol) and members:
        head = min(one.line for one in members) - 1
        yield Want(first=symbol.line, last=min(head, symbol.line + HEAD), level=level, order=HEADING, why=why)
        for place, one in enumerate(members, start=REST):
            yield Want(
                first=one.line, last=one.end_line, level=Level.LIKELY, order=place, why=f"a member of {symbol.name}"
            )
        return
    yield Want(first=symbol.line, last=symbol.end_line, level=level, order=order, focus=line, why=why)


def is_long(symbol: Symbol) -> bool:
    """Whether a class is shown member by member."""
    return symbol.kind == "class" and symbol.end_line - symbol.line > _SMALL_CLASS


def members_of(symbols: Sequence[Symbol], around: Symbol) -> list[Symbol]:
    """The methods and inner classes of a definition."""
    return [one for one in symbols if one.parent == around.qualified and one.kind != "variable" and _holds(around, one)]


def _called(text: str, symbols: Sequence[Symbol], wants: Sequence[Want], level: Level) -> list[Want]:
    """The definitions of the same file that the named ones speak of, the nearest first, as whole as they are."""
    named = [want.focus or want.first for want in wants if want.order != HEADING]
    rows = text.split("\n")
    if not symbols:
        alone = Want(first=1, last=len(rows), level=Level.LIKELY, order=REST, focus=1, why="its file was named")
        return [] if named else [alone]
    units = [one for one in symbols if not (is_long(one) and members_of(symbols, one))]
    tops = [one for one in units if not any(_holds(other, one) for other in units)]
    if not named:
        why = "its file was named"
        return [
            Want(first=one.line, last=one.end_line, level=Level.LIKELY, order=REST + place, why=why)
            for place, one in enumerate(tops)
        ]
    inside = [one for one in tops if any(one.line <= line <= one.end_line for line in named)]
    spoken = {name for name in words_in(rows, inside) if not name.startswith("__")}
    called = [one for one in tops if one.name in spoken and one not in inside]
    called.sort(key=lambda one: min((abs(one.line - line) for line in named), default=0))
    why = "what was named speaks of it"
    return [
        Want(first=one.line, last=one.end_line, level=level, order=REST + place, why=why)
        for place, one in enumerate(called[:_MOST_CALLED])
        if one.end_line - one.line <= _LONG_CALLED
    ]


def words_in(rows: Sequence[str], symbols: Iterable[Symbol]) -> set[str]:
    """The words that stand in some definitions of a file."""
    return {word for one in symbols for row in rows[one.line - 1 : one.end_line] for word in re.findall(r"\w+", row)}


def _holds(outer: Symbol, inner: Symbol) -> bool:
    return outer is not inner and outer.line <= inner.line and inner.end_line <= outer.end_line


def definitions_of(symbols: Sequence[Symbol], name: str) -> list[Symbol]:
    """The definitions of a name, `f`, `A` or `A.f`: all of them where it is overloaded or defined under a condition.

    Of `A.f` without an `A.f` it is the `f` of the module, or the only `f` there is: methods of other classes that bear the same
    name are not what was named.
    """
    exact = [symbol for symbol in symbols if symbol.qualified == name or symbol.qualified.endswith(f".{name}")]
    last = name.rpartition(".")[2]
    same = [symbol for symbol in symbols if symbol.name == last]
    alone = same if len({symbol.qualified for symbol in same}) == 1 else []
    return exact or [symbol for symbol in same if not symbol.parent] or alone


def _innermost(symbols: Sequence[Symbol], line: int) -> Symbol | None:
    around = [one for one in symbols if one.line <= line <= one.end_line and one.kind != "variable"]
    around = around or [one for one in symbols if one.line <= line <= one.end_line]
    return max(around, key=lambda one: one.line, default=None)


def _lines_with(text: str, words: Iterable[str]) -> list[int]:
    """The first line on which each word stands."""
    rows = text.split("\n")
    found = (next((number for number, row in enumerate(rows, start=1) if word in row), 0) for word in words if word)
    return [number for number in found if number]


def head_of(text: str) -> tuple[int, int]:
    """First and last line of the imports and constants before the first function or class, without licence and long words."""
    lines = text.split("\n")
    defining = (
        index for index, line in enumerate(lines) if line.startswith(_DEFINING) and not line.startswith(_PASSED_ON)
    )
    end = next(defining, min(40, len(lines)))
    start = next((index for index, line in enumerate(lines[:end]) if line.startswith((*_IMPORTING, *_PASSED_ON))), 0)
    return start + 1, min(max(end, start + 1), start + HEAD)


# -- files


def file_view(
    root: Path, path: str, text: str, wants: Iterable[Want], *, symbols: Sequence[Symbol], state: str
) -> View:
    """A view of a file whose text and symbols are known."""
    names = {one.line: one.qualified for one in symbols if one.kind != "variable"}
    return view_of(path, text, wants, digest=digest_file(root / path), names=names, state=state)


def symbols_of(path: str, text: str) -> Sequence[Symbol]:
    """What a text defines, as far as its language can be read."""
    return outline_of(path, text).symbols


def source_text(root: Path, path: str) -> str | None:
    """The text of a file; None where it is not there or no readable text."""
    return read_source(root, path)
