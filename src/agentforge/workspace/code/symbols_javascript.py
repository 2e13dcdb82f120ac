"""What JavaScript and TypeScript define by values: `exports.f = ...`, members of objects, class fields, default exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast_grep_py import SgNode

FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "function", "class", "generator_function"})
_FIELDS = frozenset({"public_field_definition", "field_definition", "pair"})
_SIGNATURES = frozenset({"method_signature", "abstract_method_signature"})
_EXPORTED = ("module.exports.", "exports.", "this.", "self.")


def valued(node: SgNode) -> tuple[str, str, SgNode] | None:
    """The kind (function, class, method), the dotted name and the value of a node that gives a function or class a name.

    A function that is handed to another one, as in `const Row = memo(function () { ... })`, counts as the value.
    """
    kind = node.kind()
    if kind == "variable_declarator":
        return _made("function", node.field("name"), _function_in(node.field("value")))
    if kind in _FIELDS:
        name = node.field("name") or node.field("property") or node.field("key")
        return _made("method", name, _function_in(node.field("value"), handed=False))
    if kind in _SIGNATURES:
        return _made("method", node.field("name"), node)
    if kind == "assignment_expression":
        return _made("function", node.field("left"), _function_in(node.field("right"), handed=False))
    if kind == "export_statement" and (value := node.field("value")) is not None and value.field("name") is None:
        function = _function_in(value)
        return (
            ("class" if value.kind() == "class" else "function", "default", function) if function is not None else None
        )
    return None


def constant_of(node: SgNode) -> SgNode | None:
    """The name that a declaration at the top of a module gives to a value which is no function; None for what `require` loads."""
    name, value = node.field("name"), node.field("value")
    if node.kind() != "variable_declarator" or name is None or name.kind() != "identifier" or value is None:
        return None
    declaration = node.parent()
    around = declaration.parent() if declaration is not None else None
    at_top = around is not None and around.kind() in ("program", "export_statement")
    return name if at_top and not value.text().startswith(("require(", "import(")) else None


def scope_of(node: SgNode) -> str:
    """The name of an object or a namespace, whose members are defined inside of it."""
    name = node.field("name")
    if name is None:
        return ""
    if node.kind() == "internal_module":
        return name.text()
    value = node.field("value") if node.kind() == "variable_declarator" else None
    return name.text() if value is not None and value.kind() == "object" else ""


def _function_in(value: SgNode | None, *, handed: bool = True) -> SgNode | None:
    """A function or class that a value is, or that is handed to the call that makes it."""
    if value is None or value.kind() in FUNCTION_VALUES:
        return value
    arguments = value.field("arguments") if handed and value.kind() == "call_expression" else None
    first = next((one for one in arguments.children() if one.is_named()), None) if arguments is not None else None
    return first if first is not None and first.kind() in FUNCTION_VALUES else None


def _made(kind: str, name: SgNode | None, value: SgNode | None) -> tuple[str, str, SgNode] | None:
    if name is None or value is None:
        return None
    text = name.text().replace(".prototype.", ".").strip("'\"")
    for prefix in _EXPORTED:
        text = text.removeprefix(prefix)
    plain = text == "module.exports"
    own = value.field("name") if plain else None
    text = own.text() if own is not None else "default" if plain else text
    if not all(part.lstrip("#").replace("$", "_").isidentifier() for part in text.split(".")):
        return None
    return ("class" if value.kind() == "class" else kind), text, value
