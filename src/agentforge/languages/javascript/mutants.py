"""Mutants of changed lines of JavaScript and TypeScript, made by replacing nodes of the syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from agentforge.languages.javascript.source import CLASSES, FUNCTIONS, broken, parsed
from agentforge.languages.language import Mutant
from agentforge.languages.node_mutants import (
    OPERATORS,
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

_OPERATORS = {**OPERATORS, "===": "!==", "!==": "==="}
_SWAPPED = {
    "toLowerCase": "toUpperCase", "toUpperCase": "toLowerCase", "some": "every", "every": "some", "min": "max",
    "max": "min", "startsWith": "endsWith", "endsWith": "startsWith", "floor": "ceil", "ceil": "floor", "push": "unshift",
    "unshift": "push", "pop": "shift", "shift": "pop", "trimStart": "trimEnd", "trimEnd": "trimStart",
    "indexOf": "lastIndexOf", "lastIndexOf": "indexOf",
}  # fmt: skip
_LEFT_OUT = frozenset(
    {
        "comment", "import_statement", "type_annotation", "type_arguments", "type_parameters", "interface_declaration",
        "type_alias_declaration", "decorator", "jsx_attribute", "jsx_text", "export_clause", "class_heritage", "regex",
        "ambient_declaration", "type_predicate_annotation", "asserts_annotation", "function_signature",
    }
)  # fmt: skip
_SPEAKING = ("console.", "log.", "logger.", "debug(", "winston.")
_MADE = frozenset({"identifier", "member_expression", "call_expression"})
_FUNCTION_NAMES = frozenset({"variable_declarator", "pair", "public_field_definition", "field_definition"})


def javascript_mutants(path: str, data: bytes, *, lines: int, before: bytes | None = None) -> tuple[Mutant, ...]:
    """Every mutant of the changed lines of a file, in order; () for a file that cannot be parsed.

    Left out are types, imports, comments, text for people (logs, messages of errors) and what is shown by JSX.

    Args:
        lines: a bit for each changed line.
        before: the file as it was, whose parts of a changed line are left out; None = nothing is.
    """
    text = data.decode("utf-8", "replace")
    root = parsed(path, text)
    if root is None or broken(root) or text.encode() != data:
        return ()
    changes = ((_owner(change[1]), change) for change in _walk(root, wordy=False))
    return node_mutants(path, text, changes, lines=lines, before=before, parses=lambda made: _parses(path, made))


def _parses(path: str, text: str) -> bool:
    root = parsed(path, text)
    return root is not None and not broken(root)


def _walk(node: SgNode, *, wordy: bool) -> Iterator[Change]:
    kind = node.kind()
    if kind in _LEFT_OUT or _speaks(node):
        return
    yield from _changes(node, wordy=wordy)
    wordy = (
        wordy or kind == "throw_statement" or (kind == "new_expression" and "Error" in node.text().partition("(")[0])
    )
    for child in node.children():
        yield from _walk(child, wordy=wordy)


def _speaks(node: SgNode) -> bool:
    """A statement for people, or a directive like "use strict"."""
    if node.kind() != "expression_statement":
        return False
    inner = node.child(0)
    return node.text().startswith(_SPEAKING) or (inner is not None and inner.kind() == "string")


def _changes(node: SgNode, *, wordy: bool) -> Iterator[Change]:
    kind = node.kind()
    if kind == "binary_expression":
        yield from _operator(node)
    elif kind in ("number", "true", "false", "string") and not wordy:
        yield from _constant(node)
    elif kind == "unary_expression" and node.text().startswith("!"):
        inner = node.field("argument")
        if inner is not None:
            yield "condition", node, inner.text()
    elif kind in ("if_statement", "while_statement", "ternary_expression"):
        yield from _condition(node)
        yield from _branch(node)
    elif kind == "pair":
        yield from _dispatch(node)
    elif kind in ("return_statement", "arrow_function"):
        yield from _returned(node)
    elif kind in ("expression_statement", "throw_statement"):
        yield from _removed(node)
    elif kind in ("break_statement", "continue_statement"):
        yield from _jump(node)
    elif kind == "property_identifier" and node.text() in _SWAPPED and is_called(node):
        yield "method", node, _SWAPPED[node.text()]


def _operator(node: SgNode) -> Iterator[Change]:
    left, sign = node.field("left"), node.field("operator")
    if left is not None and sign is not None and sign.text() == "??":
        yield "boolean", node, left.text()
    yield from operator_changes(node, texts=("string", "template_string"), operators=_OPERATORS)


def _constant(node: SgNode) -> Iterator[Change]:
    parent = node.parent()
    if parent is None or (parent.kind() == "pair" and parent.field("key") == node):
        return
    if not _names_a_module(node):
        yield from constant_changes(node, numbers=("number",), texts=("string",))


def _names_a_module(node: SgNode) -> bool:
    """Whether a string is what `require` or `import` loads, or where an export comes from."""
    around = list(node.ancestors())[:2]
    loads = (
        len(around) == 2
        and around[1].kind() == "call_expression"
        and around[1].text().startswith(("require(", "import("))
    )
    return loads or (bool(around) and around[0].kind() in ("export_statement", "literal_type"))


def _condition(node: SgNode) -> Iterator[Change]:
    """The contrary of a condition; one that begins with `!` is turned where that stands."""
    yield from (one for one in condition_changes(node, operators=_OPERATORS) if not one[2].startswith(("(!(!", "!(!")))


def _branch(node: SgNode) -> Iterator[Change]:
    """A choice that goes one way always: each value of a conditional expression, and an `if` without `else`."""
    test = node.field("condition")
    if node.kind() == "ternary_expression":
        yield from value_changes(node)
    elif node.kind() == "if_statement" and node.field("alternative") is None and test is not None:
        yield "branch", test, "(true)"


def _dispatch(node: SgNode) -> Iterator[Change]:
    """An entry of an object that stands under another name; one with a constant is changed where the constant stands."""
    key, value = node.field("key"), node.field("value")
    named = key is not None and key.kind() in ("property_identifier", "string")
    if named and value is not None and (value.kind() in FUNCTIONS or value.kind() in _MADE):
        yield "dispatch", cast("SgNode", key), '"mutated"'


def _returned(node: SgNode) -> Iterator[Change]:
    if node.kind() == "return_statement":
        value = next((child for child in node.children() if child.is_named()), None)
    else:
        value = node.field("body")
    if value is not None and value.kind() not in ("statement_block", "undefined", "null", "false"):
        yield "returned", value, "undefined"


def _removed(node: SgNode) -> Iterator[Change]:
    """A statement that does something is left out; steps of counters stay, or loops would never end."""
    if node.kind() == "throw_statement":
        yield "removed", node, ";"
        return
    inner = node.child(0)
    inner = inner.child(1) if inner is not None and inner.kind() == "await_expression" else inner
    if inner is None or inner.text().startswith(
        ("super(", "module.exports", "exports.", "Object.defineProperty(exports")
    ):
        return
    left = inner.field("left")
    changes_a_part = inner.kind() == "assignment_expression" and left is not None and left.kind() != "identifier"
    if changes_a_part or inner.kind() in ("call_expression", "delete_expression"):
        yield "removed", node, ";"


def _jump(node: SgNode) -> Iterator[Change]:
    around = next((one.kind() for one in node.ancestors() if one.kind().endswith(("_statement", "switch_body"))
                   and one.kind().startswith(("for", "while", "do", "switch"))), "")  # fmt: skip
    if around.startswith(("for", "while", "do")) and node.text().rstrip(";") in ("break", "continue"):
        yield "jump", node, "continue;" if node.text().startswith("break") else "break;"


def _owner(node: SgNode) -> str:
    """The dotted name of the functions and classes around a node; "" is the module."""
    names = []
    for one in node.ancestors():
        if one.kind() in FUNCTIONS or one.kind() in CLASSES or one.kind() in _FUNCTION_NAMES:
            name = one.field("name") or one.field("key")
            if name is not None and (one.kind() not in _FUNCTION_NAMES or _holds_function(one)):
                names.append(name.text())
    return ".".join(reversed(names))


def _holds_function(node: SgNode) -> bool:
    value = node.field("value")
    return value is not None and (value.kind() in FUNCTIONS or value.kind() in CLASSES)
