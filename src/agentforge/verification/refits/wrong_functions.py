"""The functions of a product file, and versions of the file in which one of them is wrong as a whole: it does nothing, or it does
everything and gives another result."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentforge.languages.javascript.source import FUNCTIONS, TYPED, definitions, is_javascript, parsed, replaced, span
from agentforge.languages.language import Mutant
from agentforge.languages.python.mutated_source import Function, MutatedSource
from agentforge.languages.python.source import module_of
from agentforge.languages.python.stubs import python_functions

if TYPE_CHECKING:
    from ast_grep_py import SgNode

NULL = "null"
"""The kind of a mutant in which a whole function does nothing."""
SKEWED = "skewed"
"""The kind of a mutant in which a function does what it does and gives another result."""
WHOLE = (NULL, SKEWED)
_RESULTS = (("None", "undefined"), ("'\\x00wrong'", '"\\u0000wrong"'))  # nothing, and something: a test may want either
_SKEW = (
    "(lambda v: (lambda s: s(s, v))(lambda s, v: not v if v is True or v is False else v + 1 if type(v) in (int, float) "
    "else v + '\\x00' if type(v) is str else [*(s(s, one) for one in v), None] if type(v) is list "
    "else (*(s(s, one) for one in v), None) if type(v) is tuple "
    "else {**{key: s(s, one) for key, one in v.items()}, '\\x00': None} if type(v) is dict else '\\x00wrong'))"
)
"""Every part of a result is another one: a test may look at any of them."""
_SKEW_JAVASCRIPT = (
    '{ return typeof v === "boolean" ? !v : typeof v === "number" ? v + 1 : typeof v === "string" ? v + "\\u0000" : '
    "Array.isArray(v) ? [...v.map((one) => s(one)), null] : "
    "v && [Object.prototype, null].includes(Object.getPrototypeOf(v)) ? "
    '{...Object.fromEntries(Object.entries(v).map(([key, one]) => [key, s(one)])), "\\u0000": 1} : "\\u0000wrong"; })'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductFunction:
    """A function or method of a product file.

    Attributes:
        owner: its dotted name in the file, like `Class.method`.
        first, last: the lines of its body.
        returns: the lines on which a result is returned, as bits; 0 where only the whole is known.
    """

    path: str
    owner: str
    first: int
    last: int
    returns: int = 0

    @property
    def bits(self) -> int:
        """The lines of its body as bits."""
        return ((1 << (self.last - self.first + 1)) - 1) << self.first

    @property
    def name(self) -> str:
        """The name by which others call it: that of the class for what Python calls itself."""
        *owners, last = self.owner.split(".")
        special = (last.startswith("__") and last.endswith("__")) or last == "constructor"
        return owners[-1] if special and owners else last


def product_functions(path: str, data: bytes | None) -> tuple[ProductFunction, ...]:
    """The functions and methods of a file that is Python, JavaScript or TypeScript; () for others. The last of a name counts."""
    found: dict[str, ProductFunction] = {}
    if path.endswith(".py"):
        for owner, node in python_functions(module_of(data).body):
            last = node.body[-1].end_lineno or node.body[-1].lineno
            lines = sum({1 << one.lineno for one in _results(node)})
            found[owner] = ProductFunction(path=path, owner=owner, first=node.body[0].lineno, last=last, returns=lines)
    elif is_javascript(path) and (root := parsed(path, (data or b"").decode("utf-8", "replace"))) is not None:
        for one in definitions(root):
            body = one.node.field("body") if one.node.kind() in FUNCTIONS else None
            if body is not None:
                place = body.range()
                found[one.name] = ProductFunction(
                    path=path, owner=one.name, first=place.start.line + 1, last=place.end.line + 1
                )
    return tuple(found.values())


def wrong_versions(function: ProductFunction, data: bytes) -> tuple[Mutant, ...]:
    """The file with a function that does nothing, giving nothing and something that nobody wants; and with one whose result is
    another one."""
    if function.path.endswith(".py"):
        node = next((one for owner, one in python_functions(module_of(data).body) if owner == function.owner), None)
        made = _python_versions(node, data) if node is not None else []
    else:
        made = _javascript_versions(function, data)
    return tuple(
        Mutant(
            path=function.path, line=function.first, last=function.last, kind=kind, owner=function.owner,
            before=function.owner, after=told, data=text,
        )
        for kind, told, text in made
    )  # fmt: skip


def _python_versions(node: Function, data: bytes) -> list[tuple[str, str, bytes]]:
    source = MutatedSource(data)
    first, last = source.span(node.body[0])[0], source.span(node.body[-1])[1]
    inner = list(_own_nodes(node))
    yields = any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in inner)
    if node.name == "__init__":
        return [(NULL, "pass", data[:first] + b"pass" + data[last:])]
    made = []
    for value, _ in _RESULTS:
        text = ("return; yield" if value == "None" else f"yield {value}") if yields else f"return {value}"
        made.append((NULL, text, data[:first] + text.encode() + data[last:]))
    values = [one.value for one in _results(node) if one.value is not None]
    if values and not yields:
        skewed = data
        for start, end in sorted((source.span(one) for one in values), reverse=True):
            skewed = skewed[:start] + f"{_SKEW}((".encode() + skewed[start:end] + b"))" + skewed[end:]
        made.append((SKEWED, "another result", skewed))
    return made


def _results(node: Function) -> list[ast.Return]:
    """Where a function returns something."""
    found = [one for one in _own_nodes(node) if isinstance(one, ast.Return) and one.value is not None]
    return [one for one in found if not (isinstance(one.value, ast.Constant) and one.value.value is None)]


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function and in no other one inside of it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _own_nodes(child)


def _javascript_versions(function: ProductFunction, data: bytes) -> list[tuple[str, str, bytes]]:
    text = data.decode("utf-8", "replace")
    root = parsed(function.path, text)
    nodes = [one.node for one in definitions(root) if one.name == function.owner] if root is not None else []
    body = nodes[-1].field("body") if nodes and nodes[-1].kind() in FUNCTIONS else None
    if body is None:
        return []
    typed, block = function.path.endswith(TYPED), body.kind() == "statement_block"
    start, end = span(body)
    made = []
    for _, value in _RESULTS:
        said = f"({value} as any)" if typed else value
        change = (start + 1, start + 1, f" return {said}; ") if block else (start, end, said)
        made.append((NULL, f"return {value}", _with(text, [change])))
    values = list(_returned(body)) if block else [body]
    head = f"(function s(v: any): any {_SKEW_JAVASCRIPT}" if typed else f"(function s(v) {_SKEW_JAVASCRIPT}"
    if values:
        changes = [(*span(one), f"{head}({one.text()})") for one in values]
        made.append((SKEWED, "another result", _with(text, changes)))
    return made


def _returned(node: SgNode) -> Iterator[SgNode]:
    """The values that a function returns, not those of functions inside of it."""
    for child in node.children():
        if child.kind() == "return_statement":
            yield from (one for one in child.children() if one.is_named() and one.kind() != "comment")
        elif child.kind() not in FUNCTIONS:
            yield from _returned(child)


def _with(text: str, changes: Sequence[tuple[int, int, str]]) -> bytes:
    return replaced(text, changes).encode("utf-8", "surrogateescape")
