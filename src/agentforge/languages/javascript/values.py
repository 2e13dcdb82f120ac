"""Wrong values of JavaScript by declared type, as `stub_values.py` has them for Python."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentforge.languages.javascript.source import broken
from agentforge.languages.stub_values import Values
from agentforge.workspace.code.symbols import parse_tree

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_WRONG = '"\\u0000wrong"'
_BY_TYPE = {
    "string": (_WRONG, '""', '"x"'),
    "number": ("-987654321", "0", "-1"),
    "bigint": ("-987654321n", "0n", "-1n"),
    "boolean": ("", "false", "true"),
    "Array": (f"[{_WRONG}]", "[]", "[null]"),
    "Set": (f"new Set([{_WRONG}])", "new Set()", "new Set([null])"),
    "Map": (f"new Map([[{_WRONG}, {_WRONG}]])", "new Map()", "new Map([[null, null]])"),
    "object": (f"({{{_WRONG}: {_WRONG}}})", "({})", "({x: null})"),
    "Date": ("new Date(-987654321000)", "new Date(0)", "new Date(-1)"),
}
_ALIASES = {
    "String": "string", "str": "string", "Number": "number", "int": "number", "float": "number", "integer": "number",
    "Boolean": "boolean", "bool": "boolean", "ReadonlyArray": "Array", "Iterable": "Array", "IterableIterator": "Array",
    "Iterator": "Array", "Generator": "Array", "array": "Array", "list": "Array", "List": "Array", "tuple": "Array",
    "set": "Set", "ReadonlySet": "Set", "ReadonlyMap": "Map", "Record": "object", "Object": "object", "dict": "object",
    "Partial": "object", "Readonly": "object",
}  # fmt: skip
_KINDS = {
    "array_type": "Array", "tuple_type": "Array", "readonly_type": "Array", "object_type": "object",
    "template_literal_type": "string",
}  # fmt: skip
_UNKNOWN = ("new (class Wrong {})()", "undefined", "0")
_NOTHING = frozenset({"undefined", "null", "void", "None", "never"})
_JSDOC = re.compile(r"@returns?\s*\{([^}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What a function gives: its wrong values, and whether they come as a promise."""

    values: Values
    promised: bool = False


def returned_by(signature: str, node: SgNode | None) -> Returned:
    """The wrong values of a function: by its declared signature, else by its annotation or its JSDoc.

    Args:
        signature: as a specification has it: `slug(text: string): string`, `(text) => string`, `(text) -> str`.
        node: the function as it stands, when it does.
    """
    declared = _of_signature(signature) or (_annotated(node) if node is not None else None)
    promised = signature.lstrip().startswith("async ")
    if declared is not None and declared.kind() == "generic_type" and _name(declared) == "Promise":
        inner = _arguments(declared)
        return Returned(values=values_for(inner[0] if inner else None), promised=True)
    return Returned(values=values_for(declared), promised=promised)


def values_for(declared: SgNode | None) -> Values:
    """Choose the wrong values for a type; None means that nothing is declared."""
    options = _options(declared) if declared is not None else []
    named = [option for option in options if option not in _NOTHING]
    if options and not named:
        return Values(wrong=_WRONG, empty="undefined", other="0", nullable=True)
    found = _BY_TYPE.get(_ALIASES.get(named[0], named[0])) if named else None
    wrong, empty, other = found or _UNKNOWN
    return Values(wrong=wrong, empty=empty, other=other, nullable=found is None or len(named) < len(options))


def type_of(text: str) -> SgNode | None:
    """The tree of a type as it is written; None when it is none."""
    root = parse_tree(f"type T = {text};", "typescript") if text.strip() else None
    if root is None or broken(root):
        return None
    alias = root.find(kind="type_alias_declaration")
    return alias.field("value") if alias is not None else None


def _of_signature(signature: str) -> SgNode | None:
    text = signature.strip().rstrip(";").removesuffix("{}").strip()
    if not text:
        return None
    if "->" in text:
        return type_of(text.rpartition("->")[2].replace("[", "<").replace("]", ">").strip(" :"))
    bare = text.removeprefix("export ").removeprefix("default ")
    for candidate in (f"declare {bare};", f"declare function {bare.removeprefix('async ')};", f"declare function f{bare};",
                      f"declare const f: {bare};", f"declare class A {{ {bare}; }}"):  # fmt: skip
        root = parse_tree(candidate, "typescript")
        if root is None or broken(root):
            continue
        for node in root.find_all({"rule": {"any": [{"kind": kind} for kind in _SIGNATURES]}}):
            found = _annotated(node)
            if found is not None:
                return found
    return None


_SIGNATURES = (
    "function_signature",
    "function_type",
    "method_signature",
    "abstract_method_signature",
    "method_definition",
)


def _annotated(node: SgNode) -> SgNode | None:
    """The return type of a function that stands there: its annotation, else what its JSDoc says."""
    found = node.field("return_type")
    if found is not None:
        if not found.kind().endswith("_annotation"):
            return found
        return next((child for child in found.children() if child.is_named()), None)
    place: SgNode | None = node
    while place is not None and place.kind() not in ("program", "statement_block", "class_body"):
        before = place.prev()
        if before is not None and before.kind() == "comment":
            said = _JSDOC.search(before.text())
            return type_of(said[1].removesuffix("=").lstrip("?!")) if said else None
        place = place.parent()
    return None


def _options(node: SgNode) -> list[str]:
    """The alternatives of a type by plain names: `string[] | null` -> Array, null."""
    kind = node.kind()
    inner = [child for child in node.children() if child.is_named()]
    if kind == "union_type":
        return [option for child in inner for option in _options(child)]
    if kind == "parenthesized_type" and inner:
        return _options(inner[0])
    if kind == "literal_type" and inner:
        text = inner[0].kind()
        return [{"string": "string", "number": "number", "true": "boolean", "false": "boolean"}.get(text, text)]
    if kind == "type_predicate":
        return ["boolean"]
    if kind == "generic_type":
        return [_name(node)]
    return [_KINDS.get(kind, node.text())]


def _name(node: SgNode) -> str:
    name = node.field("name") or node.child(0)
    return name.text() if name is not None else ""


def _arguments(node: SgNode) -> list[SgNode]:
    found = node.find(kind="type_arguments")
    return [child for child in found.children() if child.is_named()] if found is not None else []
