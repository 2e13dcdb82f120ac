"""Reads Go, Rust and Java by their grammars: which functions a file defines, what they return, what else stands in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentforge.languages.node_mutants import span
from agentforge.workspace.code.symbols import language_of, parse_tree
from agentforge.workspace.code.symbols_rust import holds_tests

if TYPE_CHECKING:
    from ast_grep_py import SgNode

NATIVE = frozenset({"go", "rust", "java"})
_FUNCTIONS = frozenset(
    {
        "function_declaration",
        "method_declaration",
        "function_item",
        "constructor_declaration",
        "compact_constructor_declaration",
    }
)
_OWNERS = frozenset(
    {
        "class_declaration",
        "interface_declaration",
        "enum_declaration",
        "record_declaration",
        "trait_item",
        "mod_item",
        "impl_item",
    }
)
_BODIES = frozenset({"class_body", "interface_body", "enum_body", "enum_body_declarations", "declaration_list"})
_SILENT = frozenset(
    {
        "comment", "line_comment", "block_comment", "import_declaration", "package_clause", "package_declaration",
        "use_declaration", "attribute_item", "inner_attribute_item", "extern_crate_declaration", "mod_item", "empty_statement",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function or method with a body.

    Attributes:
        name: `f`, or `Owner.f`.
        returns: the nodes of its result types; () when it gives nothing back.
        constructor: of a Java class: it gives nothing back, and what it calls first must stay first.
    """

    name: str
    language: str
    node: SgNode
    body: SgNode
    returns: tuple[SgNode, ...]
    constructor: bool = False


def native_language(path: str) -> str:
    """The grammar of a Go, Rust or Java file; empty for any other."""
    language = language_of(path) or ""
    return language if language in NATIVE else ""


def native_tree(language: str, text: str) -> SgNode | None:
    """The tree of a text; None where there is no parser on this machine."""
    return parse_tree(text, language)


def functions(root: SgNode, language: str) -> tuple[Function, ...]:
    """Every function and method with a body, in the order of the file; the functions inside of functions belong to these.

    Modules of tests in a product file of Rust are left out.
    """
    return tuple(_functions(root, language, ""))


def data_of(root: SgNode) -> frozenset[str]:
    """The texts of everything that is no function, import or comment: types, fields, values, macros."""
    return frozenset(_data(root))


def entry(function: Function) -> int:
    """Where a statement can be put that is executed first."""
    first = next((one for one in function.body.children() if one.is_named()), None)
    if first is not None and first.kind() == "explicit_constructor_invocation":
        return span(first)[1]
    return span(function.body)[0] + 1


def with_statements(text: str, statements: list[tuple[Function, str]]) -> str:
    """A text in which each function begins with a statement; what stood there follows and is still compiled."""
    for function, statement in sorted(statements, key=lambda one: entry(one[0]), reverse=True):
        at = entry(function)
        mark = ";" if function.language == "go" and statement else ""
        text = f"{text[:at]} {statement}{mark} {text[at:]}"
    return text


def _functions(node: SgNode, language: str, owner: str) -> Iterator[Function]:
    for child in node.children():
        if child.kind() in _FUNCTIONS:
            yield from _function(child, language, owner)
        elif child.kind() in _OWNERS and not _is_of_tests(child):
            named = child.field("type") if child.kind() == "impl_item" else child.field("name")
            name = named.text().partition("<")[0].strip() if named is not None and child.kind() != "mod_item" else ""
            yield from _functions(child, language, ".".join(one for one in (owner, name) if one))
        elif child.kind() in _BODIES:
            yield from _functions(child, language, owner)


def _is_of_tests(node: SgNode) -> bool:
    return node.kind() == "mod_item" and holds_tests(node)


def _function(node: SgNode, language: str, owner: str) -> Iterator[Function]:
    name, body = node.field("name"), node.field("body")
    if name is None or body is None:
        return
    owner = _receiver(node) or owner
    constructor = "constructor" in node.kind()
    returns = () if constructor else tuple(_returned(node, language))
    yield Function(
        name=f"{owner}.{name.text()}" if owner else name.text(), language=language, node=node, body=body, returns=returns,
        constructor=constructor,
    )  # fmt: skip


def _receiver(node: SgNode) -> str:
    """The type that a method of Go belongs to, without star and type arguments."""
    receiver = node.field("receiver")
    if receiver is None:
        return ""
    names = [one.text() for one in receiver.find_all(kind="type_identifier")]
    return names[0] if names else ""


def _returned(node: SgNode, language: str) -> Iterator[SgNode]:
    kind = node.field({"go": "result", "rust": "return_type", "java": "type"}[language])
    if kind is None or kind.kind() in ("void_type", "unit_type", "never_type"):
        return
    if language != "go" or kind.kind() != "parameter_list":
        yield kind
        return
    for child in kind.children():
        told = child.field("type") if child.is_named() else None
        if told is not None:
            names = sum(1 for one in child.children() if one.kind() == "identifier")
            yield from [told] * max(1, names)


def _data(node: SgNode) -> Iterator[str]:
    for child in node.children():
        if (
            not child.is_named()
            or child.kind() in _FUNCTIONS
            or (child.kind() in _SILENT and child.field("body") is None)
            or _is_of_tests(child)
        ):
            continue
        if child.kind() in _OWNERS or child.kind() in _BODIES:
            body = child if child.kind() in _BODIES else child.field("body")
            if child.kind() in _OWNERS:
                end = span(body)[0] - span(child)[0] if body is not None else None
                yield child.text()[:end].strip()
            if body is not None:
                yield from _data(body)
        else:
            yield child.text()
