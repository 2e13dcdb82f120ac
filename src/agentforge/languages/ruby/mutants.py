"""Mutants of changed lines of Ruby, made by replacing nodes of the syntax tree; what no longer parses is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentforge.languages.mutant import Mutant
from agentforge.languages.node_mutants import (
    Change,
    condition_changes,
    constant_changes,
    node_mutants,
    operator_changes,
)
from agentforge.languages.ruby.source import methods, ruby_tree

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_SWAPPED = {
    "upcase": "downcase", "downcase": "upcase", "any?": "all?", "all?": "any?", "select": "reject", "reject": "select",
    "min": "max", "max": "min", "first": "last", "last": "first", "start_with?": "end_with?", "end_with?": "start_with?",
    "lstrip": "rstrip", "rstrip": "lstrip", "floor": "ceil", "ceil": "floor", "push": "unshift", "unshift": "push",
    "index": "rindex", "rindex": "index",
}  # fmt: skip
_CHOICES = ("if", "unless", "while", "until", "if_modifier", "unless_modifier", "conditional")
_LEFT_OUT = frozenset({"comment", "method_parameters", "regex", "heredoc_body", "string_array", "symbol_array"})
_SPEAKING = ("puts ", "p ", "print ", "warn ", "logger.", "Rails.logger", "raise ", "$stderr", "$stdout")


def ruby_mutants(path: str, data: bytes, *, lines: int, before: bytes | None = None) -> tuple[Mutant, ...]:
    """Every mutant of the changed lines of a file, in order; () for a text that cannot be parsed.

    Left out are comments, parameters and text for people (what is printed, logged or raised).

    Args:
        lines: a bit for each changed line.
        before: the file as it was, whose parts of a changed line are left out; None = nothing is.
    """
    text = data.decode("utf-8", "replace")
    root = ruby_tree(text) if text.encode() == data else None
    if root is None:
        return ()
    changes = ((method.name, change) for method in methods(root) for change in _walk(method.node))
    parses = lambda made: ruby_tree(made) is not None  # noqa: E731 # the whole file again
    return node_mutants(path, text, changes, lines=lines, before=before, parses=parses)


def _walk(node: SgNode) -> Iterator[Change]:
    if node.kind() in _LEFT_OUT or node.text().startswith(_SPEAKING):
        return
    yield from _changes(node)
    for child in node.children():
        yield from _walk(child)


def _changes(node: SgNode) -> Iterator[Change]:
    kind = node.kind()
    yield from constant_changes(node, numbers=("integer",), texts=("string",))
    if kind == "binary":
        yield from operator_changes(node, texts=("string",))
    elif kind in _CHOICES:
        yield from condition_changes(node)
    elif kind == "return" and (value := next((one for one in node.children() if one.is_named()), None)) is not None:
        if value.text() != "nil":
            yield "returned", value, "nil"
    elif kind == "call":
        name = node.field("method")
        if name is not None and node.field("receiver") is not None and name.text() in _SWAPPED:
            yield "method", name, _SWAPPED[name.text()]
