"""Mutants of changed lines of Go, Rust and Java, made by replacing nodes of the syntax tree; what does not compile is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentforge.languages.language import Mutant
from agentforge.languages.native.source import Function, functions, native_language, native_tree
from agentforge.languages.native.values import statement
from agentforge.languages.node_mutants import (
    Change,
    condition_changes,
    constant_changes,
    is_called,
    node_mutants,
    operator_changes,
    value_changes,
)

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_NUMBERS = frozenset(
    {"int_literal", "integer_literal", "decimal_integer_literal", "float_literal", "decimal_floating_point_literal"}
)
_TEXTS = frozenset({"interpreted_string_literal", "raw_string_literal", "string_literal"})
_SWAPPED = {
    "ToLower": "ToUpper", "ToUpper": "ToLower", "HasPrefix": "HasSuffix", "HasSuffix": "HasPrefix", "TrimLeft": "TrimRight",
    "TrimRight": "TrimLeft", "Index": "LastIndex", "LastIndex": "Index", "to_lowercase": "to_uppercase",
    "to_uppercase": "to_lowercase", "to_ascii_lowercase": "to_ascii_uppercase", "to_ascii_uppercase": "to_ascii_lowercase",
    "starts_with": "ends_with", "ends_with": "starts_with", "trim_start": "trim_end", "trim_end": "trim_start", "any": "all",
    "all": "any", "min": "max", "max": "min", "is_some": "is_none", "is_none": "is_some", "toLowerCase": "toUpperCase",
    "toUpperCase": "toLowerCase", "startsWith": "endsWith", "endsWith": "startsWith", "indexOf": "lastIndexOf",
    "lastIndexOf": "indexOf", "anyMatch": "allMatch", "allMatch": "anyMatch", "stripLeading": "stripTrailing",
}  # fmt: skip
_LEFT_OUT = frozenset(
    {
        "comment", "line_comment", "block_comment", "import_declaration", "package_clause", "package_declaration",
        "use_declaration", "attribute_item", "inner_attribute_item", "modifiers", "parameters", "parameter_list",
        "formal_parameters", "type_parameters", "type_arguments", "generic_type", "const_item", "macro_rules",
    }
)  # fmt: skip
_ASSIGNED = frozenset({"assignment_statement", "assignment_expression", "compound_assignment_expr"})
_PARTS = frozenset(
    {"selector_expression", "index_expression", "field_expression", "field_access", "array_access", "expression_list"}
)
_SPEAKING = (
    "log.", "logger.", "LOG.", "LOGGER.", "fmt.Print", "System.out.", "System.err.", "println!", "eprintln!", "debug!", "info!",
    "warn!",
)  # fmt: skip
_MESSAGES = ("panic(", "errors.New(", "fmt.Errorf(")
_WORDY = frozenset({"throw_statement", "panic!", "macro_invocation"})


def native_mutants(path: str, data: bytes, *, lines: int, before: bytes | None = None) -> tuple[Mutant, ...]:
    """Every mutant of the changed lines of a file, in order; () for another language, or a text that cannot be parsed.

    Left out are types, imports, comments and text for people (logs, panics, messages of exceptions).

    Args:
        lines: a bit for each changed line.
        before: the file as it was, whose parts of a changed line are left out; None = nothing is.
    """
    language = native_language(path)
    text = data.decode("utf-8", "replace")
    root = native_tree(language, text) if language and text.encode() == data else None
    if root is None or root.find(kind="ERROR") is not None:
        return ()
    changes = (
        (function.name, change)
        for function in functions(root, language)
        for change in (*_walk(function.body), *_emptied(function))
    )
    return node_mutants(path, text, changes, lines=lines, before=before)


def _walk(node: SgNode) -> Iterator[Change]:
    kind = node.kind()
    if kind in _LEFT_OUT or kind in _WORDY or node.text().startswith(_SPEAKING):
        return
    if kind == "call_expression" and node.text().startswith(_MESSAGES):
        return
    yield from _changes(node)
    for child in node.children():
        yield from _walk(child)


def _changes(node: SgNode) -> Iterator[Change]:
    kind, text = node.kind(), node.text()
    yield from constant_changes(node, numbers=_NUMBERS, texts=_TEXTS, one="1.0")
    if kind in ("binary_expression", *_ASSIGNED):
        yield from (one for one in operator_changes(node, texts=_TEXTS) if one[0] != "branch" or not _binds(node))
        yield from _unassigned(node)
    elif kind in ("if_statement", "if_expression", "while_statement", "while_expression", "for_statement"):
        test = node.field("condition")
        if test is not None and not _binds(test):
            yield from condition_changes(node)
            yield from _branch(node, test)
    elif kind == "ternary_expression":
        yield from value_changes(node)
    elif kind == "expression_statement":
        yield from _removed(node)
    elif kind in ("field_identifier", "identifier") and text in _SWAPPED and is_called(node):
        yield "method", node, _SWAPPED[text]


def _binds(node: SgNode) -> bool:
    """Whether a condition of Rust binds names: `if let`."""
    return "let " in node.text()


def _branch(node: SgNode, test: SgNode) -> Iterator[Change]:
    """An `if` that goes one way always."""
    if node.kind() in ("if_statement", "if_expression"):
        wrapped = test.kind() == "parenthesized_expression"
        for word in ("true", "false")[: 1 if node.field("alternative") is None else 2]:
            yield "branch", test, f"({word})" if wrapped else word


def _removed(node: SgNode) -> Iterator[Change]:
    """A call for its effect is left out."""
    inner = node.child(0)
    if (
        inner is not None
        and inner.kind() in ("call_expression", "method_invocation")
        and node.text().endswith((")", ";"))
    ):
        parent = node.parent()
        last = parent.children()[-2:] if parent is not None else []
        if node.text().endswith(";") or (parent is not None and parent.kind() != "block") or node not in last:
            yield "removed", node, "{}"


def _unassigned(node: SgNode) -> Iterator[Change]:
    """A change of a part of something is left out; names keep theirs, or nothing would be compiled."""
    left, parent = node.field("left"), node.parent()
    if node.kind() not in _ASSIGNED or left is None or left.kind() not in _PARTS or parent is None:
        return
    inner = next((one for one in left.children() if one.is_named()), left) if left.kind() == "expression_list" else left
    if inner.kind() in _PARTS:
        whole = parent if parent.kind() == "expression_statement" else node
        yield "removed", whole, "{}"


def _emptied(function: Function) -> Iterator[Change]:
    """The body gives back the zero value at once; for a function that gives back nothing it does nothing."""
    made = statement(function, "empty")
    body = function.body
    if made and not function.constructor and body.text().strip("{} \n\t"):
        inside = body.text()[1:]
        mark = ";" if function.language == "go" else ""
        yield "returned", body, f"{{ {made}{mark} {inside}"
