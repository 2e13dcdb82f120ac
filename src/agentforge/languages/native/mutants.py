"""Mutants of changed lines of Go, Rust and Java, made by replacing nodes of the syntax tree; what does not compile is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentforge.languages.mutant import Mutant
from agentforge.languages.native.source import Function, functions, native_language, native_tree
from agentforge.languages.native.values import statement
from agentforge.languages.node_mutants import Change, node_mutants

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_OPERATORS = {
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "/",
    "/": "*", "%": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=",
}  # fmt: skip
_BOOLEAN, _ARITHMETIC = frozenset({"&&", "||"}), frozenset(("+", "-", "*", "/", "%", "+=", "-=", "*=", "/="))
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
    if kind in ("binary_expression", *_ASSIGNED):
        yield from _operator(node)
        yield from _unassigned(node)
    elif kind in _NUMBERS and not node.children():
        yield "constant", node, str(int(text) + 1) if text.isdecimal() else f"({text} + 1.0)"
    elif kind in ("true", "false", "boolean_literal"):
        yield "constant", node, "false" if text == "true" else "true"
    elif kind in _TEXTS and text[:1] in ('"', "`"):
        yield "constant", node, '"mutated"' if len(text) == 2 else '""'
    elif kind in ("if_statement", "if_expression", "while_statement", "while_expression", "for_statement"):
        yield from _condition(node)
        yield from _branch(node)
    elif kind == "ternary_expression":
        yield from _branch(node)
    elif kind == "expression_statement":
        yield from _removed(node)
    elif kind in ("field_identifier", "identifier") and text in _SWAPPED and _is_called(node):
        yield "method", node, _SWAPPED[text]


def _operator(node: SgNode) -> Iterator[Change]:
    left, right, sign = node.field("left"), node.field("right"), node.field("operator")
    if left is None or right is None or sign is None or sign.text() not in _OPERATORS:
        return
    if sign.text() in _BOOLEAN and "let " not in node.text():
        yield "branch", node, f"({left.text()})"
        yield "branch", node, f"({right.text()})"
    texts = any(one.kind() in _TEXTS for one in (left, right))
    if sign.text() in ("+", "+=") and texts:
        return
    kind = "arithmetic" if sign.text() in _ARITHMETIC else "boolean" if sign.text() in _BOOLEAN else "comparison"
    yield kind, sign, _OPERATORS[sign.text()]


def _condition(node: SgNode) -> Iterator[Change]:
    """The condition of a branch or loop becomes its contrary, where no operator of it can be turned."""
    test = node.field("condition")
    inner = test.child(1) if test is not None and test.kind() == "parenthesized_expression" else test
    if test is None or inner is None or "let " in inner.text():
        return
    sign = inner.field("operator") if inner.kind() == "binary_expression" else None
    if sign is None or sign.text() not in _OPERATORS:
        yield "condition", test, f"(!({inner.text()}))" if test is not inner else f"!({inner.text()})"


def _branch(node: SgNode) -> Iterator[Change]:
    """A choice that goes one way always: each value of a conditional expression, and an `if` without `else`."""
    test, other = node.field("condition"), node.field("alternative")
    if node.kind() == "ternary_expression":
        values = [node.field(name) for name in ("consequence", "alternative")]
        yield from (("branch", node, f"({value.text()})") for value in values if value is not None)
    elif node.kind() in ("if_statement", "if_expression") and test is not None and "let " not in test.text():
        wrapped = test.kind() == "parenthesized_expression"
        for word in ("true", "false")[: 1 if other is None else 2]:
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


def _is_called(node: SgNode) -> bool:
    around = list(node.ancestors())[:2]
    kinds = [one.kind() for one in around]
    return bool(kinds) and ("method_invocation" in kinds[:1] or "call_expression" in kinds)


def _emptied(function: Function) -> Iterator[Change]:
    """The body gives back the zero value at once; for a function that gives back nothing it does nothing."""
    made = statement(function, "empty")
    body = function.body
    if made and not function.constructor and body.text().strip("{} \n\t"):
        inside = body.text()[1:]
        mark = ";" if function.language == "go" else ""
        yield "returned", body, f"{{ {made}{mark} {inside}"
