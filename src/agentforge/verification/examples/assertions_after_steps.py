"""Assertions at the end of several steps of a Python test: the literals that the steps are given, and what is expected then.

`assertions.py` reads calls that stand for themselves; here an object is made, told something, and asked. Read, never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from agentforge.verification.examples.assertions import Assertion, place_of
from agentforge.verification.examples.claims import is_literal
from agentforge.verification.source.test_hashes import test_functions


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """An assertion and what came before it.

    Attributes:
        name: what is asked at the end: `balance` of `book.balance()`.
        inputs: the values that the steps before it and the asked call are given, as texts, in order.
        expected: the values of the expected result, as texts, in order.
    """

    name: str
    inputs: tuple[str, ...]
    expected: tuple[str, ...]
    assertion: Assertion


def played(path: str, data: bytes) -> tuple[Played, ...]:
    """The assertions `made.name(...) == literal` of the tests of a file that neither branch nor loop nor take fixtures."""
    found: list[Played] = []
    text = data.decode("utf-8", "replace")
    for name, node, classes in test_functions(data):
        plain = all(
            isinstance(one, (ast.Assign, ast.Expr, ast.Assert, ast.Import, ast.ImportFrom)) for one in node.body
        )
        if plain and not node.decorator_list and len(node.args.args) <= bool(classes):
            found += _of_test(path, name, node.body, text)
    return tuple(found)


def _of_test(path: str, test: str, body: list[ast.stmt], text: str) -> Iterator[Played]:
    inputs: list[str] = []
    for node in body:
        if not isinstance(node, ast.Assert):
            inputs += _values(node)
            continue
        match node.test:
            case ast.Compare(ops=[ast.Eq()], left=ast.Call(func=ast.Attribute(attr=name)) as call, comparators=[value]):
                if not is_literal(ast.unparse(value)):
                    continue
                one = Assertion(
                    path=path, test=test, line=node.lineno,
                    quote=" ".join((ast.get_source_segment(text, node) or "").split()),
                    calls=(f"{name}()",), returns=ast.unparse(value), source=ast.unparse(call),
                    value=place_of(value), statement=place_of(node),
                )  # fmt: skip
                given = (*inputs, *_values(call))
                yield Played(name=name, inputs=given, expected=tuple(_values(value)), assertion=one)


def _values(node: ast.AST) -> list[str]:
    """The texts and numbers in a piece of source, in the order in which they stand."""
    match node:
        case ast.Constant(value=bool() | None):
            return []
        case ast.Constant(value=str() | int() | float() as value):
            return [str(value)]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return [str(-value)]
    return [value for child in ast.iter_child_nodes(node) for value in _values(child)]
