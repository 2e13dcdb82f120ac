"""Names the tests of a JavaScript or TypeScript file without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_TESTS = frozenset({"test", "it", "specify"})
_GROUPS = frozenset({"describe", "suite", "context"})
_CONDITIONS = frozenset({"skipIf", "runIf", "if", "todoIf", "failingIf"})
_FOCUSED_TESTS, _FOCUSED_GROUPS = frozenset({"fit"}), frozenset({"fdescribe"})


def plain_tests(node: SgNode, titles: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield (titles as the runner tells them, source text) of each test below a node."""
    for child in node.children():
        called = _called(child) if child.kind() == "call_expression" else ""
        title = _title(child) if called in _TESTS | _GROUPS else None
        if called in _TESTS and title is not None:
            yield " > ".join((*titles, title)), child.text()
        elif called in _GROUPS and title is not None and (inner := child.field("arguments")) is not None:
            yield from plain_tests(inner, (*titles, title))
        else:
            yield from plain_tests(child, titles)


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


def group_or_test(call: SgNode) -> tuple[str, str]:
    """("test" or "group", its title) of a call with a plain title; ("", "") of any other."""
    word, title = _root_word(call), _title(call)
    if not word or title is None:
        return "", ""
    return ("test" if word in _TESTS | _FOCUSED_TESTS else "group"), title


def holds_tests(root: SgNode) -> bool:
    """Whether a file holds tests, those with a computed title included."""
    return any(_root_word(one) in _TESTS | _FOCUSED_TESTS for one in root.find_all(kind="call_expression"))


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
    """`it` of `it(...)`, `it.only(...)`, `t.it(...)`, `it.skipIf(...)(...)`; empty for anything else."""
    function = call.field("function")
    while function is not None and function.kind() == "call_expression" and _is_condition(function):
        function = function.field("function")
    if function is None or function.kind() not in ("identifier", "member_expression"):
        return ""
    parts = function.text().split(".")
    return next((part for part in parts if part in _TESTS | _GROUPS), "")


def _is_condition(call: SgNode) -> bool:
    """`it.skipIf(...)`: what is called next is still the one test, under its own title."""
    function = call.field("function")
    return function is not None and function.text().rpartition(".")[2] in _CONDITIONS


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
