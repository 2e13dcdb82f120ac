"""Reads Ruby by its grammar: which methods a file defines, and where something can be put into one that is executed first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentforge.languages.node_mutants import span
from agentforge.workspace.code.symbols import parse_tree

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_OWNERS = frozenset({"class", "module", "singleton_class"})
_METHODS = frozenset({"method", "singleton_method"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method.

    Attributes:
        name: `slug`, or `Kit.Cart.total`, whether it belongs to the class or to its objects.
        entry: the offset of what it executes first; that of the whole value where it is written as `def f = value`.
        is_endless: it is written as `def f = value`.
    """

    name: str
    node: SgNode
    entry: int
    is_endless: bool = False


def ruby_tree(text: str) -> SgNode | None:
    """The tree of a text; None where it cannot be parsed, or there is no parser on this machine."""
    root = parse_tree(text, "ruby")
    return None if root is None or root.find(kind="ERROR") is not None else root


def methods(node: SgNode, owner: str = "") -> Iterator[Method]:
    """Every method below a node, in the order of the file; the methods inside of methods belong to these."""
    for child in node.children():
        kind = child.kind()
        if kind in _METHODS:
            name = child.field("name")
            if name is not None:
                entry, endless = _entry(child)
                yield Method(name=_joined(owner, name.text()), node=child, entry=entry, is_endless=endless)
        elif kind in _OWNERS:
            named = child.field("name")
            yield from methods(child, _joined(owner, named.text().replace("::", ".")) if named is not None else owner)
        elif child.is_named():
            yield from methods(child, owner)


def data_of(node: SgNode) -> frozenset[str]:
    """The texts of all statements that are no method, class, module or comment: constants, macros, top-level calls."""
    return frozenset(_data(node))


def with_statements(text: str, statements: Sequence[tuple[Method, str]]) -> str:
    """A text in which each method begins with a statement; what stood there follows."""
    for method, statement in sorted(statements, key=lambda one: one[0].entry, reverse=True):
        at = method.entry
        if method.is_endless:
            end = span(method.node)[1]
            text = f"{text[:at]}begin; {statement}; {text[at:end]}; end{text[end:]}"
        else:
            text = f"{text[:at]}; {statement}; {text[at:]}"
    return text


def _entry(node: SgNode) -> tuple[int, bool]:
    """Behind the name and the parameters, or before the value of an endless method."""
    body, parameters, name = node.field("body"), node.field("parameters"), node.field("name")
    end = parameters or name
    assert end is not None
    between = node.text()[span(end)[1] - span(node)[0] :]
    if body is not None and between.lstrip().startswith("="):
        return span(body)[0], True
    return span(end)[1], False


def _joined(owner: str, name: str) -> str:
    return f"{owner}.{name}" if owner else name


def _data(node: SgNode) -> Iterator[str]:
    for child in node.children():
        kind = child.kind()
        if not child.is_named() or kind in _METHODS or kind == "comment":
            continue
        if kind in _OWNERS or kind == "body_statement":
            yield from _data(child)
        else:
            yield child.text()
