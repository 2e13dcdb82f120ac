"""Names the tests of a source file without running it: JavaScript, TypeScript, Go, Rust and Java, each by its own grammar."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentforge.workspace.code.symbols import language_of, parse_tree

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_TESTS = frozenset({"test", "it", "specify"})
_GROUPS = frozenset({"describe", "suite", "context"})
_JAVA = frozenset({"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Theory", "Property"})
_FOCUSED_TESTS, _FOCUSED_GROUPS = frozenset({"fit"}), frozenset({"fdescribe"})
_GO = ("Test", "Example", "Fuzz")


def named_tests(path: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield (name as the runner tells it, source text) of each test; nothing for a language that is not known here.

    A title that is computed is left out.
    """
    language = language_of(path) or ""
    if language not in ("javascript", "typescript", "tsx", "go", "rust", "java"):
        return
    root = parse_tree(data.decode("utf-8", "replace"), language)
    if root is None:
        return
    if language == "go":
        yield from _of_go(root)
    elif language == "rust":
        yield from _of_rust(root, ())
    elif language == "java":
        yield from _of_java(root, ())
    else:
        yield from _of_javascript(root, ())


def has_tests(path: str, data: bytes) -> bool:
    """Whether a file holds tests, those with a computed title included; False for a language that is not known here."""
    language = language_of(path) or ""
    if language not in ("javascript", "typescript", "tsx"):
        return any(True for _ in named_tests(path, data))
    root = parse_tree(data.decode("utf-8", "replace"), language)
    calls = root.find_all(kind="call_expression") if root is not None else ()
    return any(_root_word(one) in _TESTS | _FOCUSED_TESTS for one in calls)


def _of_go(root: SgNode) -> Iterator[tuple[str, str]]:
    for node in root.children():
        name = node.field("name") if node.kind() == "function_declaration" else None
        if name is not None and name.text().startswith(_GO):
            yield name.text(), node.text()


def _of_rust(node: SgNode, modules: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Functions that an attribute like `#[test]` stands before; an attribute is a sibling of its function."""
    attributes: list[str] = []
    for child in node.children():
        name = child.field("name")
        if child.kind() == "attribute_item":
            attributes.append(child.text())
            continue
        if child.kind() == "function_item" and name is not None and any(_is_test_attribute(one) for one in attributes):
            yield "::".join((*modules, name.text())), "\n".join((*attributes, child.text()))
        elif child.kind() == "mod_item" and name is not None and (body := child.field("body")) is not None:
            yield from _of_rust(body, (*modules, name.text()))
        if child.kind() not in ("line_comment", "block_comment"):
            attributes = []


def _is_test_attribute(text: str) -> bool:
    inner = text.removeprefix("#[").partition("(")[0].removesuffix("]").strip()
    return inner.rpartition("::")[2] in ("test", "rstest", "test_case")


def _of_java(node: SgNode, owners: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Methods with an annotation that ends in Test or begins a family of tests, and `test...` methods of a TestCase."""
    for child in node.children():
        name = child.field("name")
        body = child.field("body")
        if child.kind() in ("class_declaration", "record_declaration") and name is not None and body is not None:
            yield from _of_java(body, (*owners, name.text()))
        elif child.kind() == "method_declaration" and name is not None and _is_java_test(child, name.text()):
            yield "::".join((*owners, name.text())), child.text()


def _is_java_test(method: SgNode, name: str) -> bool:
    modifiers = next((one for one in method.children() if one.kind() == "modifiers"), None)
    marks = [one.field("name") for one in modifiers.children()] if modifiers is not None else []
    if any(one is not None and one.text().rpartition(".")[2] in _JAVA for one in marks):
        return True
    body = method.parent()
    owner = body.parent() if body is not None else None
    above = owner.field("superclass") if owner is not None else None
    return name.startswith("test") and above is not None and above.text().endswith("TestCase")


def _of_javascript(node: SgNode, titles: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for child in node.children():
        called = _called(child) if child.kind() == "call_expression" else ""
        title = _title(child) if called in _TESTS | _GROUPS else None
        if called in _TESTS and title is not None:
            yield " > ".join((*titles, title)), child.text()
        elif called in _GROUPS and title is not None and (inner := child.field("arguments")) is not None:
            yield from _of_javascript(inner, (*titles, title))
        else:
            yield from _of_javascript(child, titles)


def javascript_tests(node: SgNode, titles: tuple[str, ...] = ()) -> Iterator[tuple[str, SgNode]]:
    """Yield (titles as they are written, the call) of each test below a node; those of many cases and focused ones, too."""
    for child in node.children():
        word = _root_word(child) if child.kind() == "call_expression" else ""
        title = _title(child) if word else None
        if title is None:
            yield from javascript_tests(child, titles)
        elif word in _TESTS | _FOCUSED_TESTS:
            yield " > ".join((*titles, title)), child
        else:
            yield from javascript_tests(child, (*titles, title))


def _root_word(call: SgNode) -> str:
    """`it` of `it(...)`, `it.each([...])(...)`, `it.each`...`(...)`; empty for anything else."""
    function = call.field("function")
    while function is not None and function.kind() == "call_expression":
        function = function.field("function")
    if function is None or function.kind() not in ("identifier", "member_expression"):
        return ""
    known = _TESTS | _GROUPS | _FOCUSED_TESTS | _FOCUSED_GROUPS
    return next((part for part in function.text().split(".") if part in known), "")


def _called(call: SgNode) -> str:
    """`it` of `it(...)`, `it.only(...)`, `t.it(...)`; empty for anything else."""
    function = call.field("function")
    if function is None or function.kind() not in ("identifier", "member_expression"):
        return ""
    parts = function.text().split(".")
    return next((part for part in parts if part in _TESTS | _GROUPS), "")


def _title(call: SgNode) -> str | None:
    """The first argument, when it is a plain string."""
    arguments = call.field("arguments")
    first = next((one for one in arguments.children() if one.is_named()), None) if arguments is not None else None
    if first is None or first.kind() not in ("string", "template_string") or "${" in first.text():
        return None
    text = first.text()
    if "\\" not in text:
        return text[1:-1]
    try:
        return str(ast.literal_eval(text if first.kind() == "string" else f'"""{text[1:-1]}"""'))
    except (SyntaxError, ValueError):
        return None
