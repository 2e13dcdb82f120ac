"""Reads JavaScript and TypeScript by their grammars: what a file defines, and under which names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import normpath
from typing import TYPE_CHECKING

from agentforge.workspace.code.symbols import LANGUAGES, parse_tree

if TYPE_CHECKING:
    from ast_grep_py import SgNode

GRAMMARS = frozenset({"javascript", "typescript", "tsx"})
FUNCTIONS = frozenset(
    {
        "function_declaration", "generator_function_declaration", "function_expression", "generator_function",
        "arrow_function", "method_definition",
    }
)  # fmt: skip
CLASSES = frozenset({"class_declaration", "abstract_class_declaration", "class"})
TYPED = (".ts", ".mts", ".cts", ".tsx")
_DECLARATIONS = frozenset({"function_declaration", "generator_function_declaration"})
_GIVES_NAME = (
    r"(?:\bdefault\s+as\s+{0}\b[^;'\"]*|\bimport\s+{0}\b[^;'\"]*)\bfrom\s*['\"](\.[^'\"]*)"
    r"|(?<![\w$]){0}\s*[:=]\s*require\(\s*['\"](\.[^'\"]*)"
)
"""How another file names a default export; the name is put in the place of {0}."""
_WRAPPING = frozenset({"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"})


@dataclass(frozen=True, slots=True, kw_only=True)
class JavascriptDefinition:
    """A name and what it stands for: a function, a class, an object, or any other value. `Class.method` for what lies inside."""

    name: str
    node: SgNode


def is_javascript(path: str) -> bool:
    """Whether a path is JavaScript or TypeScript by its ending; declarations of types alone are none."""
    return LANGUAGES.get(PurePosixPath(path).suffix) in GRAMMARS and not path.endswith((".d.ts", ".d.mts", ".d.cts"))


def parsed(path: str, text: str) -> SgNode | None:
    """The tree of a file; None for another language, or where there is no parser on this machine."""
    return parse_tree(text, LANGUAGES[PurePosixPath(path).suffix]) if is_javascript(path) else None


def broken(root: SgNode) -> bool:
    """Whether a text does not follow its grammar."""
    return root.find(kind="ERROR") is not None


def definitions(root: SgNode) -> Iterator[JavascriptDefinition]:
    """Everything that a file defines at its top, in classes and in objects; what stands inside of functions belongs to them.

    An anonymous default export is called `default`. The body of a function that is called where it stands counts as top.
    """
    yield from _inside(root, "")


def defines(path: str, text: str, name: str, *, inside: bool = True) -> bool:
    """Whether a file defines a name (`Class.method`, `kit.slug`), at its top or inside of one function.

    An export without a name has that of its file, as those who import it write it.

    Args:
        inside: a name inside of a function counts.
    """
    root = parsed(path, text)
    if root is None:
        return False
    known = {one.name for one in definitions(root)}
    unnamed = "default" in known and name == PurePosixPath(path).name.partition(".")[0]
    return name in known or unnamed or (inside and anywhere(root, name) is not None)


def named_by(path: str, text: str, name: str, *, other: str, its_text: str) -> bool:
    """Whether another file gives this name to what a file exports without one: `export { default as area } from "./a.js"`.

    Args:
        path, text: the file that exports.
        other, its_text: the other one: an entry, an index, a neighbour.
    """
    root = parsed(path, text) if name in its_text and is_javascript(other) else None
    if root is None or "default" not in {one.name for one in definitions(root)}:
        return False
    folder, plain = PurePosixPath(other).parent, str(PurePosixPath(path).with_suffix(""))
    for match in re.finditer(_GIVES_NAME.format(re.escape(name)), its_text):
        there = normpath(str(folder / next(one for one in match.groups() if one)))
        if plain in (there, str(PurePosixPath(there).with_suffix("")), f"{there}/index"):
            return True
    return False


def replaced(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """A text with some spans replaced; of two that overlap the outer one counts."""
    done = text
    end_of_last = -1
    chosen = []
    for start, end, new in sorted(set(edits), key=lambda one: (one[0], -one[1], one[2])):
        if start >= end_of_last:
            chosen.append((start, end, new))
            end_of_last = max(end, end_of_last)
    for start, end, new in reversed(chosen):
        done = done[:start] + new + done[end:]
    return done


def span(node: SgNode) -> tuple[int, int]:
    """Where a node stands in its text."""
    return node.range().start.index, node.range().end.index


def is_module(path: str, text: str, *, package: str) -> bool:
    """Whether a file is an ES module: by its ending, by what stands in it, else by `"type"` of its package.

    Args:
        package: text of the nearest package.json.
    """
    if path.endswith((".mjs", ".mts", ".ts", ".tsx", ".jsx")):
        return True
    if path.endswith((".cjs", ".cts")):
        return False
    root = parsed(path, text)
    kinds = {child.kind() for child in root.children()} if root is not None else set()
    if kinds & {"export_statement", "import_statement"}:
        return True
    if "module.exports" in text or "require(" in text or "exports." in text:
        return False
    return '"module"' in package


def unwrapped(node: SgNode) -> SgNode:
    """A value without parentheses and type assertions around it."""
    while node.kind() in _WRAPPING:
        inner = next((child for child in node.children() if child.is_named()), None)
        if inner is None:
            return node
        node = inner
    return node


def _inside(node: SgNode, parent: str) -> Iterator[JavascriptDefinition]:
    for child in node.children():
        kind = child.kind()
        name = child.field("name")
        if kind in _DECLARATIONS:
            yield JavascriptDefinition(name=_joined(parent, name.text() if name else "default"), node=child)
        elif kind in CLASSES:
            yield from _value(_joined(parent, name.text() if name else "default"), child)
        elif kind == "variable_declarator":
            value = child.field("value")
            if value is not None and name is not None:
                yield from _value(_joined(parent, name.text()), unwrapped(value))
        elif kind == "export_statement" and (exported := child.field("value")) is not None:
            yield from _value("default", unwrapped(exported))
        elif kind == "assignment_expression":
            yield from _assigned(child)
        elif kind == "call_expression":
            yield from _called_in_place(child)
        elif kind not in FUNCTIONS:
            yield from _inside(child, parent)


def _value(name: str, node: SgNode) -> Iterator[JavascriptDefinition]:
    """A value under a name, and what it holds."""
    yield JavascriptDefinition(name=name, node=node)
    if node.kind() in CLASSES:
        body = node.field("body")
        for member in body.children() if body is not None else ():
            yield from _member(name, member)
    elif node.kind() == "object":
        for member in node.children():
            yield from _member(name, member)


def _member(owner: str, node: SgNode) -> Iterator[JavascriptDefinition]:
    key = node.field("name") or node.field("key") or node.field("property")
    if key is None:
        return
    name = _joined(owner, key.text().strip("'\""))
    if node.kind() == "method_definition":
        yield JavascriptDefinition(name=name, node=node)
    elif (value := node.field("value")) is not None:
        yield from _value(name, unwrapped(value))


def _assigned(node: SgNode) -> Iterator[JavascriptDefinition]:
    """`exports.slug = ...`, `module.exports = ...`, `Kit.prototype.slug = ...`, `kit.slug = ...`."""
    left, right = node.field("left"), node.field("right")
    if left is None or right is None:
        return
    parts = left.text().replace(".prototype.", ".").split(".")
    if parts[:2] == ["module", "exports"]:
        parts = parts[2:]
    elif parts[0] == "exports":
        parts = parts[1:]
    if right.kind() == "assignment_expression":
        yield from _assigned(right)
        return
    value = unwrapped(right)
    if parts:
        yield from _value(".".join(parts), value)
    elif value.kind() == "object":
        for member in value.children():
            yield from _member("", member)
        yield JavascriptDefinition(name="default", node=value)
    else:
        own = value.field("name")
        yield from _value(own.text() if own is not None else "default", value)


def anywhere(root: SgNode, name: str) -> SgNode | None:
    """What a name stands for inside of functions, too; None when nothing or more than one thing has it."""
    found = []
    for function in root.find_all({"rule": {"any": [{"kind": kind} for kind in sorted(FUNCTIONS)]}}):
        body = function.field("body")
        if body is not None and body.kind() == "statement_block":
            found += [one.node for one in _inside(body, "") if one.name == name]
    places = {span(node) for node in found}
    return found[0] if len(places) == 1 else None


def _called_in_place(node: SgNode) -> Iterator[JavascriptDefinition]:
    """What stands in the body of `(function () { ... })()`, and of the factory that is handed to it."""
    function, arguments = node.field("function"), node.field("arguments")
    first = unwrapped(function) if function is not None else None
    if first is None or first.kind() not in FUNCTIONS:
        return
    given = [unwrapped(one) for one in arguments.children() if one.is_named()] if arguments is not None else []
    for inner in (first, *given):
        body = inner.field("body") if inner.kind() in FUNCTIONS else None
        if body is not None:
            yield from _inside(body, "")


def _joined(owner: str, name: str) -> str:
    return f"{owner}.{name}" if owner else name
