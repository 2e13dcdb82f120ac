"""What assertions of a Python test file state of calls with literals, after steps, too; and a file with such a value changed.

Read, never run: only of tests whose body is imports, constants and assertions alone, for set-up, fixtures and other steps make
circumstances that the call does not tell.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentforge.languages.python.source import module_of
from agentforge.verification.examples.claims import Claim, is_call, is_literal, literal
from agentforge.verification.examples.suite_claims import Origin, has_setup, imports_of, is_plain, parameter_rows
from agentforge.verification.source.test_hashes import test_functions

_EQUAL = frozenset(
    {"assertEqual", "assertEquals", "assertIs", "assertListEqual", "assertDictEqual", "assertCountEqual"}
)
_TRUTH = {"assertTrue": "True", "assertFalse": "False"}
_ROWS = 60

Place = tuple[int, int, int, int] | tuple[()]
"""First line, column, last line, column: lines from 1, columns in UTF-8 bytes from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One assertion.

    Attributes:
        path, test: where it stands; `test` is `Class::name`.
        line: 1-based.
        quote: its source, on one line.
        calls: spellings of the call, with and without the module that it is imported from.
        returns: source of the expected literal, "" when an exception is expected.
        raises: name of the expected exception.
        truth: only whether the result counts as true is asserted.
        source: the call as it stands there.
        value: where the expected result stands, () = it is no value.
        statement: where the whole assertion stands, () = it is part of a larger one.
        method: it stands in a method of a unittest class.
    """

    path: str
    test: str
    line: int
    quote: str
    calls: tuple[str, ...]
    returns: str = ""
    raises: str = ""
    truth: bool = False
    source: str = ""
    value: Place = ()
    statement: Place = ()
    method: bool = False


def assertions(path: str, data: bytes) -> tuple[Assertion, ...]:
    """Every assertion of a test file that says what a call with literal arguments gives, or which exception it raises."""
    tree = module_of(data)
    if has_setup(tree):
        return ()
    names = dict(imports_of(tree.body))
    constants = dict(_constants(tree.body))
    found: list[Assertion] = []
    for test, node, classes in test_functions(data):
        rows = parameter_rows(node)
        if rows is None or not all(map(is_plain, classes)) or not all(map(_is_straight, node.body)):
            continue
        own = {**names, **dict(imports_of(node.body))}
        known = {**constants, **dict(_constants(node.body))}
        for row in rows[:_ROWS]:
            reader = _Reader(
                path=path, test=test, source=data, names=own, known=known, row=row, method=_in_unittest(classes)
            )
            found += reader.of_body(node.body)
    return tuple(dict.fromkeys(found))


def contradicts(one: Assertion, claim: Claim) -> bool:
    """Whether an assertion and a claim about the same call cannot both hold."""
    if claim.raises or one.raises:
        return bool(claim.raises) != bool(one.raises)
    stated, wanted = literal(one.returns), literal(claim.returns)
    if one.truth:
        return bool(stated) is not bool(wanted)
    return repr(stated) != repr(wanted) and stated != wanted


def with_result(data: bytes, one: Assertion, claim: Claim) -> bytes | None:
    """The file with an assertion that states what a claim says of its call; None where that cannot be written."""
    if claim.returns and one.value:
        return _replaced(data, one.value, claim.returns)
    if not one.statement:
        return None
    indent = " " * one.statement[1]
    if claim.returns:
        told = (
            f"self.assertEqual({one.source}, {claim.returns})"
            if one.method
            else f"assert {one.source} == {claim.returns}"
        )
        return _replaced(data, one.statement, told)
    context = f"self.assertRaises({claim.raises})" if one.method else f"pytest.raises({claim.raises})"
    lead = "" if one.method else f"import pytest\n\n{indent}"
    return _replaced(data, one.statement, f"{lead}with {context}:\n{indent}    {one.source}")


def _replaced(data: bytes, place: tuple[int, int, int, int], text: str) -> bytes:
    first, start, last, end = place
    lines = data.splitlines(keepends=True)
    before = b"".join(lines[: first - 1]) + lines[first - 1][:start]
    return before + text.encode() + lines[last - 1][end:] + b"".join(lines[last:])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads the assertions of one row of one test."""

    path: str
    test: str
    source: bytes
    names: Mapping[str, Origin]
    known: Mapping[str, ast.expr]
    row: Mapping[str, ast.expr]
    method: bool

    def of_body(self, body: list[ast.stmt]) -> Iterator[Assertion]:
        for node in body:
            if isinstance(node, ast.Assert):
                yield from self._of_assert(node, node.test)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                yield from self._of_method(node, node.value)
            elif isinstance(node, ast.With):
                yield from self._of_raises(node)

    def _of_assert(self, node: ast.Assert, test: ast.expr) -> Iterator[Assertion]:
        match test:
            case ast.BoolOp(op=ast.And()):
                for part in test.values:
                    yield from self._of_assert(node, part)
            case ast.Compare(ops=[ast.Eq() | ast.Is()]):
                in_place = isinstance(test.ops[0], ast.Eq)  # `is` compares with True, False and None alone
                yield from self._of_pair(node, test.left, test.comparators[0], in_place=in_place)
            case ast.UnaryOp(op=ast.Not()):
                yield from self._stated(node, test.operand, returns="False", truth=True)
            case _:
                yield from self._stated(node, test, returns="True", truth=True)

    def _of_method(self, node: ast.stmt, call: ast.Call) -> Iterator[Assertion]:
        """`self.assertEqual(a, b)` and its like."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name in _EQUAL and len(call.args) >= 2:
            yield from self._of_pair(node, call.args[0], call.args[1])
        elif name in _TRUTH and call.args:
            yield from self._stated(node, call.args[0], returns=_TRUTH[name], truth=True)
        elif name == "assertRaises" and len(call.args) > 1:
            made = ast.Call(func=call.args[1], args=call.args[2:], keywords=call.keywords)
            yield from self._stated(node, made, raises=ast.unparse(call.args[0]))

    def _of_raises(self, node: ast.With) -> Iterator[Assertion]:
        """`with pytest.raises(E): call`."""
        context = node.items[0].context_expr
        if (
            len(node.body) == 1
            and isinstance(node.body[0], ast.Expr)
            and isinstance(context, ast.Call)
            and context.args
        ):
            yield from self._stated(node, node.body[0].value, raises=ast.unparse(context.args[0]))

    def _of_pair(
        self, node: ast.stmt, left: ast.expr, right: ast.expr, *, in_place: bool = True
    ) -> Iterator[Assertion]:
        for call, value in ((left, right), (right, left)):
            filled = self._filled(value)
            if is_literal(ast.unparse(filled)):
                own = self.row.get(value.id) if isinstance(value, ast.Name) else None
                yield from self._stated(
                    node, call, returns=ast.unparse(filled), value=(own or value) if in_place else None
                )
                return

    def _stated(
        self, node: ast.stmt, call: ast.expr, *, returns: str = "", raises: str = "", value: ast.expr | None = None,
        truth: bool = False,
    ) -> Iterator[Assertion]:  # fmt: skip
        filled = self._filled(call)
        if not has_literal_arguments(filled):
            return
        in_row = any(value is one for one in self.row.values())
        whole = isinstance(node, ast.Assert) and isinstance(node.test, ast.BoolOp)
        rowed = any(isinstance(one, ast.Name) and one.id in self.row for one in ast.walk(call))
        yield Assertion(
            path=self.path,
            test=self.test,
            line=value.lineno if in_row and value is not None else node.lineno,
            quote=" ".join(_segment(self.source, node).split()),
            calls=tuple(dict.fromkeys(_spellings(filled, self.names))),
            returns=returns,
            raises=raises.rpartition(".")[2],
            truth=truth,
            source=ast.unparse(call),
            value=() if value is None else place_of(value),
            statement=() if whole or rowed else place_of(node),
            method=self.method,
        )

    def _filled(self, node: ast.expr) -> ast.expr:
        """An expression with the values of constants and parameters in their places."""
        known = {**self.known, **self.row}
        if isinstance(node, ast.Name) and node.id in known:
            return known[node.id]
        filled: ast.expr = _Fill(known).visit(copy.deepcopy(node))
        return filled


class _Fill(ast.NodeTransformer):
    def __init__(self, known: Mapping[str, ast.expr]) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._known.get(node.id, node)


class _Spell(ast.NodeTransformer):
    """Names as their modules have them: with the module's last name before them, or without."""

    def __init__(self, names: Mapping[str, Origin], *, module: bool) -> None:
        self._names, self._module = names, module

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and not self._module:
            origin = self._names.get(node.value.id)
            if origin is not None and not origin[1]:
                return ast.Name(id=node.attr, ctx=ast.Load())
        return self.generic_visit(node)  # type: ignore[return-value] # an expression stays one

    def visit_Name(self, node: ast.Name) -> ast.expr:
        origin = self._names.get(node.id)
        if origin is None or not origin[1]:
            return node
        name = ast.Name(id=origin[1], ctx=ast.Load())
        if not self._module:
            return name
        return ast.Attribute(value=ast.Name(id=origin[0][0].rpartition(".")[2], ctx=ast.Load()), attr=origin[1])


def _spellings(call: ast.expr, names: Mapping[str, Origin]) -> Iterator[str]:
    yield ast.unparse(call)
    for module in (False, True):
        yield ast.unparse(_Spell(names, module=module).visit(copy.deepcopy(call)))


def _constants(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Names that are given a literal, and nothing else, in a body."""
    given: dict[str, list[ast.expr]] = {}
    for node in body:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                given.setdefault(inner.id, [])
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            given[node.targets[0].id].append(node.value)
    for node in body:
        targets = [one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
        for target in targets:
            values = given.get(target.id, [])
            if len(values) == 1 and len(targets) == 1 and is_literal(ast.unparse(values[0])):
                yield target.id, values[0]


def has_literal_arguments(call: ast.expr) -> bool:
    """Whether an expression is made of calls and literals, and every name in it is one that is called or looked into."""
    if not is_call(ast.Expression(call)):
        return False
    heads = {id(_head(one.func)) for one in ast.walk(call) if isinstance(one, ast.Call)}
    return all(id(one) in heads for one in ast.walk(call) if isinstance(one, ast.Name))


def _head(function: ast.expr) -> ast.expr:
    while isinstance(function, ast.Attribute):
        function = function.value
    return function


def _in_unittest(classes: tuple[ast.ClassDef, ...]) -> bool:
    return any(ast.unparse(base).rpartition(".")[2] == "TestCase" for one in classes for base in one.bases)


def _is_straight(node: ast.stmt) -> bool:
    """Whether a statement of a test is an import, a constant, a text or an assertion."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Pass():
            return True
        case ast.Assign(targets=[ast.Name()], value=value):
            return is_literal(ast.unparse(value))
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))):
            return name.startswith("assert")
        case ast.With(items=[ast.withitem(context_expr=ast.Call(func=function))]):
            return ast.unparse(function).rpartition(".")[2] in ("raises", "assertRaises")
    return False


def place_of(node: ast.expr | ast.stmt) -> Place:
    """Where a piece of source stands."""
    if node.end_lineno is None or node.end_col_offset is None:
        return ()
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _segment(source: bytes, node: ast.stmt) -> str:
    return ast.get_source_segment(source.decode("utf-8", "replace"), node) or ""


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
