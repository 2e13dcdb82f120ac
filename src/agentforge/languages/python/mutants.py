"""Mutants of changed lines of Python: small wrong changes, made from the syntax tree, that a good test suite notices.

The mutation operators: for one place of the syntax tree, the texts that a mutant puts there. One function, one kind.
"""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator

from agentforge.languages.changed_part import ChangedPart, changed_part
from agentforge.languages.language import Mutant, short
from agentforge.languages.python.mutated_source import MutatedSource, MutationPlace, is_speaking, places


def python_mutants(path: str, data: bytes, *, lines: int, before: bytes | None = None) -> tuple[Mutant, ...]:
    """Every mutant of the changed lines of a Python file, in order; () for a file that cannot be parsed.

    Args:
        lines: a bit for each changed line.
        before: the file as it was, whose parts of a changed line are left out; None = nothing is.
    """
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return ()
    source, seen, found = MutatedSource(data), {data}, []
    part = changed_part(None if before is None else before.decode("latin-1"), data.decode("latin-1"), lines=lines)
    for place in places(tree):
        for kind, change in _changes(place, source):
            if not _is_of(part, place, change[0], source):
                continue
            made = source.replaced(*change)
            if made not in seen and _compiles(_statement(tree, change[0], source, made)):
                seen.add(made)
                found.append(_mutant(path, place, kind, change, source=source, made=made))
    return tuple(sorted(found, key=lambda one: one.line))


def _is_of(part: ChangedPart, place: MutationPlace, node: ast.AST, source: MutatedSource) -> bool:
    """Whether a node is of the change; of one that has no place of its own the whole file stands around it."""
    if not hasattr(node, "lineno"):
        return False
    above = place.parent if node is place.node else place.node
    around = source.span(above) if above is not None and hasattr(above, "lineno") else (0, len(source.data))
    return part.holds(node.lineno, source.span(node), around, plain=isinstance(node, (ast.Constant, ast.Name)))


def _changes(place: MutationPlace, source: MutatedSource) -> Iterator[tuple[str, Change]]:
    for operator in OPERATORS:
        for change in operator(place, source):
            yield operator.__name__, change


def _mutant(
    path: str, place: MutationPlace, kind: str, change: Change, *, source: MutatedSource, made: bytes
) -> Mutant:
    node, text = change
    line, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]  # operators replace placed nodes
    before, after = short(source.text(node)), short(text)
    return Mutant(path=path, line=line, last=last, kind=kind, owner=place.owner, before=before, after=after, data=made)


def _statement(tree: ast.Module, node: ast.AST, source: MutatedSource, made: bytes) -> bytes:
    """The statement at the top of a mutated file that was changed: to compile all the others anew, too, would tell no more."""
    line: int = node.lineno  # type: ignore[attr-defined]  # operators replace placed nodes
    at = bisect_right(tree.body, line, key=_first_line) - 1
    if at < 0 or not source.data.isascii():  # what other characters mean, the head of the file may say
        return made
    last = tree.body[at].end_lineno or line
    rest = len(source.data) - (source.starts[last] if last < len(source.starts) else len(source.data))
    return made[source.starts[_first_line(tree.body[at]) - 1] : len(made) - rest]


def _first_line(node: ast.stmt) -> int:
    """Where a statement begins, with its decorators."""
    return min((one.lineno for one in getattr(node, "decorator_list", ())), default=node.lineno)


def _compiles(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


Change = tuple[ast.AST, str]
"""The node that is replaced, and the text that takes its place."""

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
}  # fmt: skip
_HARMLESS = (
    *("cache", "wraps", "override", "final", "abstractmethod", "no_type_check", "setter", "deleter", "runtime"),
    "staticmethod",  # called on the class, a plain function is the same
)
_WORDS: dict[type[ast.boolop], str] = {ast.And: "and", ast.Or: "or"}
_DOING = (ast.Call, ast.Await)

_OTHER = "X/X"
"""What makes a text another one: no codec, no safe character and no punctuation that its readers would pass over."""


def comparison(place: MutationPlace, _source: MutatedSource) -> Iterator[Change]:
    """`<` becomes `<=` and `>=`, `==` becomes `!=`, `in` becomes `not in`."""
    node = place.node
    if not isinstance(node, ast.Compare):
        return
    for number, operator in enumerate(node.ops):
        for other in _COMPARED[type(operator)]:
            operators = [*node.ops[:number], other(), *node.ops[number + 1 :]]
            yield node, _shown(ast.Compare(left=node.left, ops=operators, comparators=node.comparators))


def boolean(place: MutationPlace, _source: MutatedSource) -> Iterator[Change]:
    """`and` becomes `or`; `not x` becomes `x`."""
    node = place.node
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, _shown(ast.BoolOp(op=other, values=node.values))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, _shown(node.operand)


def arithmetic(place: MutationPlace, _source: MutatedSource) -> Iterator[Change]:
    """`+` becomes `-`, `*` becomes `//`; what is surely text is left alone, because it would only crash."""
    node = place.node
    if isinstance(node, ast.BinOp) and not (_is_text(node.left) or _is_text(node.right)):
        other = _COMPUTED.get(type(node.op))
        if other is not None:
            yield node, _shown(ast.BinOp(left=node.left, op=other(), right=node.right))
    elif isinstance(node, ast.AugAssign) and not _is_text(node.value):
        other = _COMPUTED.get(type(node.op))
        if other is not None:
            yield node, ast.unparse(ast.AugAssign(target=node.target, op=other(), value=node.value))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield node, _shown(node.operand)


def constant(place: MutationPlace, _source: MutatedSource) -> Iterator[Change]:
    """A number is one off, a truth value is turned round, a text is another; texts for people are left alone."""
    node = place.node
    if not isinstance(node, ast.Constant) or isinstance(place.parent, (ast.Expr, ast.JoinedStr)):
        return
    value = node.value
    if isinstance(value, bool):
        yield node, repr(not value)
    elif isinstance(value, int) and not _is_edge(place):
        yield node, repr(value + 1)
    elif isinstance(value, float):
        yield node, repr(value + 1.0)
    elif isinstance(value, str) and not place.wordy:
        yield node, repr(value + _OTHER)
    elif isinstance(value, bytes) and not place.wordy:
        yield node, repr(value + _OTHER.encode())


def condition(place: MutationPlace, source: MutatedSource) -> Iterator[Change]:
    """`if a` becomes `if not a`, for `while`, conditional expressions and comprehensions too."""
    node = place.node
    if isinstance(node, (ast.If, ast.While, ast.IfExp)) and not isinstance(node.test, (ast.Compare, ast.Constant)):
        yield node.test, f"(not ({source.text(node.test)}))"
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            if not isinstance(test, ast.Compare):
                yield test, f"(not ({source.text(test)}))"


def branch(place: MutationPlace, source: MutatedSource) -> Iterator[Change]:
    """A choice that never or always goes one way: what no test shows of the other way survives.

    Of `a if c else b` each of the two is given always; of `a and b`, `a or b` each operand alone counts; a condition of a
    comprehension, and of an `if` without `else`, always holds.
    """
    node = place.node
    if isinstance(node, ast.IfExp):
        yield node, f"({source.text(node.body)})"
        yield node, f"({source.text(node.orelse)})"
    elif isinstance(node, ast.BoolOp):
        for number, _ in enumerate(node.values):
            rest = [*node.values[:number], *node.values[number + 1 :]]
            yield node, f"({f' {_WORDS[type(node.op)]} '.join(f'({source.text(one)})' for one in rest)})"
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield test, "True"
    elif isinstance(node, ast.If) and not node.orelse and not isinstance(node.test, ast.Constant):
        yield node.test, "True"


def dispatch(place: MutationPlace, source: MutatedSource) -> Iterator[Change]:
    """An entry of a dictionary is missing: what stands there under a name or a text, and is no constant itself."""
    node = place.node
    if not isinstance(node, ast.Dict) or len(node.keys) < 2:
        return
    for number, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
        if key is not None and not isinstance(key, ast.Constant) and not isinstance(value, ast.Constant):
            rest = [
                (one, other)
                for place, (one, other) in enumerate(zip(node.keys, node.values, strict=True))
                if place != number
            ]
            shown = ", ".join(_entry(one, other, source) for one, other in rest)
            yield node, f"{{{shown}}}"


def returned(place: MutationPlace, _source: MutatedSource) -> Iterator[Change]:
    """`return x` becomes `return None`; `return False` does not, for nearly every caller asks both alike."""
    node = place.node
    if isinstance(node, ast.Return) and ast.unparse(node) not in ("return", "return None", "return False"):
        yield node, "return None"


def removed(place: MutationPlace, _source: MutatedSource) -> Iterator[Change]:
    """A statement that does something is left out: a call, a change of an attribute or an entry, a `raise`, a `del`."""
    node = place.node
    if isinstance(node, ast.Expr) and isinstance(node.value, _DOING) and not is_speaking(node.value):
        yield node, "pass"
    elif isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node, ast.AugAssign) or all(isinstance(one, (ast.Attribute, ast.Subscript)) for one in targets):
            yield node, "pass"
    elif isinstance(node, (ast.Raise, ast.Delete)):
        yield node, "pass"


def jump(place: MutationPlace, _source: MutatedSource) -> Iterator[Change]:
    """`break` becomes `continue`, and the other way round."""
    if isinstance(place.node, ast.Break):
        yield place.node, "continue"
    elif isinstance(place.node, ast.Continue):
        yield place.node, "break"


def bound(place: MutationPlace, source: MutatedSource) -> Iterator[Change]:
    """The end of a `range` or a slice is one off."""
    node = place.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range" and node.args:
        end = node.args[min(1, len(node.args) - 1)]
        if not isinstance(end, (ast.Constant, ast.Starred)):
            yield end, f"({source.text(end)}) - 1"
    elif isinstance(node, ast.Slice):
        for edge in (node.lower, node.upper):
            if edge is not None and not isinstance(edge, (ast.Constant, ast.UnaryOp)):
                yield edge, f"({source.text(edge)}) + 1"


def exception(place: MutationPlace, _source: MutatedSource) -> Iterator[Change]:
    """An exception is another one; a handler that raises swallows, one that does not lets it through."""
    node = place.node
    if isinstance(node, ast.Raise) and node.exc is not None and "RuntimeError" not in ast.unparse(node.exc):
        yield node.exc, "RuntimeError('mutated')"
    elif isinstance(node, ast.ExceptHandler) and len(node.body) == 1:
        only = node.body[0]
        if not isinstance(only, ast.Raise):
            yield only, "raise"


def decorator(place: MutationPlace, _source: MutatedSource) -> Iterator[Change]:
    """A decorator is left out; caches and marks that change no result are not."""
    node = place.node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        for one in node.decorator_list:
            if not any(word in ast.unparse(one) for word in _HARMLESS):
                yield one, "(lambda decorated: decorated)"


def awaited(place: MutationPlace, _source: MutatedSource) -> Iterator[Change]:
    """`await x` becomes `x`."""
    if isinstance(place.node, ast.Await):
        yield place.node, _shown(place.node.value)


OPERATORS: tuple[Callable[[MutationPlace, MutatedSource], Iterator[Change]], ...] = (
    comparison,
    boolean,
    arithmetic,
    condition,
    branch,
    dispatch,
    bound,
    constant,
    removed,
    exception,
    returned,
    jump,
    awaited,
    decorator,
)


def _is_edge(place: MutationPlace) -> bool:
    """Whether a whole number stands in `x < 5`, `x >= 5`, `5 > x` or `5 <= x`: one more is what another comparison gives."""
    around = place.parent
    if not isinstance(around, ast.Compare) or len(around.ops) != 1:
        return False
    edges = (ast.Lt, ast.GtE) if place.node is around.comparators[0] else (ast.Gt, ast.LtE)
    return isinstance(around.ops[0], edges)


def _shown(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def _entry(key: ast.expr | None, value: ast.expr, source: MutatedSource) -> str:
    return f"**{source.text(value)}" if key is None else f"{source.text(key)}: {source.text(value)}"


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (str, bytes))
    return isinstance(node, (ast.JoinedStr, ast.List, ast.Tuple, ast.Dict)) or (
        isinstance(node, ast.BinOp) and (_is_text(node.left) or _is_text(node.right))
    )
