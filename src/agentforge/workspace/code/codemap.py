"""The code map: where names are defined, referenced and called in a workspace, and the source of one definition.

Python is read by its own parser, exactly; other languages by ast-grep, else a note
says so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agentforge.frozen import dataclass
from agentforge.workspace.code.relevance import RelevantFile, rank
from agentforge.workspace.code.symbols import (
    Outline,
    Symbol,
    implementations,
    language_of,
    outline_of,
    parse_python,
    parse_tree,
    read_source,
)
from agentforge.workspace.files import search

if TYPE_CHECKING:
    from ast_grep_py import SgNode

__all__ = [
    "CodePlace",
    "CodeSource",
    "Found",
    "Outline",
    "RelevantFile",
    "Symbol",
    "definitions",
    "find",
    "outline",
    "rank",
    "source_of",
]

Relation = Literal["definitions", "references", "callers"]

_MOST_FILES = 400
_CALL_NODES = (
    "call call_expression new_expression method_invocation method_call macro_invocation object_creation_expression "
    "invocation_expression function_call function_call_expression member_call_expression jsx_self_closing_element "
    "jsx_opening_element"
)
_MEMBER_NODES = (
    "member_expression selector_expression field_expression scoped_identifier attribute member_access_expression "
    "qualified_identifier navigation_expression dot_index_expression generic_function"
)
_CALLS, _MEMBERS = frozenset(_CALL_NODES.split()), frozenset(_MEMBER_NODES.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePlace:
    """A line where a name stands: `enclosing` is the qualified definition around it, "" at the top of a file."""

    path: str
    line: int
    text: str
    enclosing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Places in the order of paths and lines.

    Attributes:
        notes: what could not be looked at, and why.
        stopped_at: the number of places after which the search stopped, None when it is complete.
    """

    places: tuple[CodePlace, ...]
    notes: tuple[str, ...] = ()
    stopped_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSource:
    """The exact text of one definition, decorators included; lines count from 1, both ends inclusive."""

    path: str
    name: str
    line: int
    end_line: int
    text: str


def outline(root: Path, path: str) -> list[Symbol]:
    """List the definitions of one file; empty when it is no source (`definitions` says why)."""
    return list(_outline(root, path).symbols)


def definitions(root: Path, files: Sequence[str]) -> list[Outline]:
    """Outline several files, with a note where one cannot be parsed; files of no known language are left out."""
    return [_outline(root, path) for path in files if language_of(path) is not None]


def find(root: Path, name: str, *, kind: Relation, limit: int = 100) -> Found:
    """Find where a name is defined, referenced or called, in the files that are not ignored.

    Args:
        name: `area`, or `Circle.area` to narrow definitions down; references and callers go by the last part.
        limit: places, >= 1.
    """
    last = name.rpartition(".")[2]
    paths = [path for path in search.files_with_word(root, last) if language_of(path) is not None]
    notes = [f"only the first {_MOST_FILES} of {len(paths)} files that hold {last!r} were looked at"] * (
        len(paths) > _MOST_FILES
    )
    places: list[CodePlace] = []
    for path in paths[:_MOST_FILES]:
        text = read_source(root, path)
        if text is None:
            continue
        found = _places(path, text, name, kind)
        places.extend(found.places)
        notes.extend(found.notes)
        if len(places) > limit:
            return Found(places=tuple(places[:limit]), notes=tuple(notes), stopped_at=limit)
    return Found(places=tuple(places), notes=tuple(notes))


def source_of(root: Path, path: str, name: str) -> CodeSource | None:
    """The exact source of one function or class, `f`, `A` or `A.f`; None when the file does not define it.

    Of an overloaded function that is the implementation, and the stubs only where there is none.
    """
    text = read_source(root, path)
    if text is None:
        return None
    symbols = implementations(outline_of(path, text).symbols)
    symbol = next((item for item in symbols if item.qualified == name), None)
    symbol = symbol or next((item for item in symbols if item.name == name), None)
    if symbol is None:
        return None
    lines = text.split("\n")[symbol.line - 1 : symbol.end_line]
    return CodeSource(
        path=path, name=symbol.qualified, line=symbol.line, end_line=symbol.end_line, text="\n".join(lines)
    )


def _outline(root: Path, path: str) -> Outline:
    text = read_source(root, path)
    return (
        Outline(path=path, symbols=(), note=f"{path} cannot be read as source")
        if text is None
        else outline_of(path, text)
    )


def _places(path: str, text: str, name: str, kind: Relation) -> Found:
    known = outline_of(path, text)
    notes = (known.note,) if known.note else ()
    if kind == "definitions":
        return Found(places=tuple(_defined(known, name)), notes=notes)
    last = name.rpartition(".")[2]
    numbers = _python_lines(text, last, kind) if language_of(path) == "python" else None
    if numbers is None:
        numbers = _tree_lines(path, text, last, kind)
    if numbers is None:
        return Found(places=(), notes=notes)
    defined = {symbol.line for symbol in known.symbols if symbol.name == last}
    lines = text.split("\n")
    places = [
        CodePlace(
            path=path, line=number, text=search.shorten(lines[number - 1].strip()), enclosing=_enclosing(known, number)
        )
        for number in sorted(numbers)
        if number <= len(lines) and (kind == "callers" or number not in defined)
    ]
    return Found(places=tuple(places), notes=notes)


def _defined(known: Outline, name: str) -> Iterator[CodePlace]:
    for symbol in known.symbols:
        if symbol.qualified == name or symbol.qualified.endswith(f".{name}"):
            yield CodePlace(path=known.path, line=symbol.line, text=symbol.signature, enclosing=symbol.parent)


def _enclosing(known: Outline, line: int) -> str:
    around = [
        symbol for symbol in known.symbols if symbol.line <= line <= symbol.end_line and symbol.kind != "variable"
    ]
    return max(around, key=lambda symbol: symbol.line).qualified if around else ""


def _python_lines(text: str, name: str, kind: Relation) -> set[int] | None:
    """Lines of Python where the name is used; None when the file does not parse."""
    module = parse_python(text)
    if isinstance(module, str):
        return None
    if kind == "callers":
        calls = (node.func for node in ast.walk(module) if isinstance(node, ast.Call))
        return {line for node in calls if (line := _named(node, name))}
    return {line for node in ast.walk(module) if (line := _named(node, name) or _imported(node, name))}


def _named(node: ast.AST, name: str) -> int | None:
    """The line where a name or an attribute of that name stands."""
    if isinstance(node, ast.Name) and node.id == name:
        return node.lineno
    if isinstance(node, ast.Attribute) and node.attr == name:
        return node.end_lineno
    if isinstance(node, ast.keyword) and node.arg == name:
        return node.lineno
    return None


def _imported(node: ast.AST, name: str) -> int | None:
    if isinstance(node, ast.alias) and name in (node.name.rpartition(".")[2], node.asname):
        return node.lineno
    return None


def _tree_lines(path: str, text: str, name: str, kind: Relation) -> set[int] | None:
    """Lines of another language where the name is used; None when ast-grep is missing."""
    tree = parse_tree(text, language_of(path) or "")
    if tree is None:
        return None
    nodes = [node for node in tree.find_all(regex=f"^{re.escape(name)}$") if node.is_leaf()]
    return {node.range().start.line + 1 for node in nodes if kind == "references" or _is_called(node)}


def _is_called(node: SgNode) -> bool:
    """Tell whether a name is what a call calls: the first thing in it, perhaps as the member of something."""
    parent = node.parent()
    while parent is not None and parent.kind() in _MEMBERS and parent.range().end.index == node.range().end.index:
        node, parent = parent, parent.parent()
    if parent is None or parent.kind() not in _CALLS:
        return False
    arguments = parent.field("arguments")
    return arguments is None or node.range().start.index < arguments.range().start.index
