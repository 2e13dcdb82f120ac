"""The statements of a Python file as what can be executed: where their first lines are, and which do nothing of weight."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentforge.runners.mutation.source import is_speaking

_SHOWING = frozenset({"__repr__", "__str__"})
_NO_CODE = (ast.Global, ast.Nonlocal, ast.Pass, ast.Try)
_PLAIN_CALLS = frozenset({"str", "repr", "len", "type", "sorted", "join", "format", "list", "tuple", "set"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement without its body.

    Attributes:
        first, last: its own lines (of a compound statement those before its body, decorators included).
        owner: qualified name of the function or class around it; "" is the module.
        inert: when nobody runs it, nothing of weight is lost: it refuses (`raise`), does nothing, gives an empty result.
        defines: the head of a function or class.
        inside: it stands in a function, so that loading the file does not execute it.
        shape: equal for equal statements, wherever they stand.
    """

    path: str
    first: int
    last: int
    owner: str
    inert: bool
    defines: bool
    inside: bool
    shape: str

    @property
    def bits(self) -> int:
        """Its lines as bits."""
        return ((1 << (self.last - self.first + 1)) - 1) << self.first


def statements(path: str, data: bytes | None, *, nameless: bool = False) -> tuple[Statement, ...]:
    """The statements of a file that leave a trace when they are executed; () when it cannot be parsed.

    Args:
        nameless: shapes without names, so that a renamed statement has the shape that it had.
    """
    try:
        tree = ast.parse(data or b"")
    except (SyntaxError, ValueError):
        return ()
    return tuple(_of_block(path, tree.body, owner="", inert=False, inside=False, nameless=nameless))


def body_of(data: bytes | None, name: str) -> int:
    """The lines of a function's or method's body as bits; 0 when the file does not define it.

    Args:
        name: dotted inside the file, like `Class.method`.
    """
    try:
        body: Sequence[ast.stmt] = ast.parse(data or b"").body
    except (SyntaxError, ValueError):
        return 0
    *owners, last = name.split(".")
    for owner in owners:
        body = next((one.body for one in body if isinstance(one, ast.ClassDef) and one.name == owner), [])
    found = 0
    for one in body:
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and one.name == last:
            end = one.end_lineno or one.lineno
            found |= ((1 << (end - one.body[0].lineno + 1)) - 1) << one.body[0].lineno
    return found


def new_ones(after: Sequence[Statement], before: Sequence[Statement]) -> Iterator[Statement]:
    """The statements of `after` that are not merely statements of `before` in another place."""
    left = Counter(one.shape for one in before)
    for one in after:
        if left[one.shape] > 0:
            left[one.shape] -= 1
        else:
            yield one


def _of_block(
    path: str, body: Sequence[ast.stmt], *, owner: str, inert: bool, inside: bool, nameless: bool
) -> Iterator[Statement]:
    refusing = bool(body) and isinstance(body[-1], ast.Raise)
    for node in body:
        quiet = inert or _is_inert(node) or (refusing and _prepares(node))
        if not _is_silent(node):
            first, last = _header(node)
            yield Statement(
                path=path, first=first, last=last, owner=owner, inert=quiet, defines=_is_scope(node), inside=inside,
                shape=_shape(node, nameless=nameless),
            )  # fmt: skip
        name = ".".join(part for part in (owner, node.name) if part) if _is_scope(node) else owner  # type: ignore[attr-defined]  # a scope has a name
        deeper = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for block in _blocks(node):
            quiet = inert or _is_aside(node) or _cleans_up(node, block)
            yield from _of_block(path, block, owner=name, inert=quiet, inside=deeper, nameless=nameless)


def _is_scope(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(node, name, [])
    for one in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
        yield one.body


def _header(node: ast.stmt) -> tuple[int, int]:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
    blocks = [block for block in _blocks(node) if block]
    if not blocks:
        return first, node.end_lineno or node.lineno
    inside = min([blocks[0][0].lineno, *(one.lineno for one in getattr(blocks[0][0], "decorator_list", []))])
    return first, max(node.lineno, inside - 1)


def _is_silent(node: ast.stmt) -> bool:
    """Statements that no tracer sees: docstrings, `pass`, bare annotations, loops over a constant."""
    if isinstance(node, _NO_CODE) or (isinstance(node, ast.AnnAssign) and node.value is None):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    return isinstance(node, ast.While) and isinstance(node.test, ast.Constant)


def _is_inert(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Raise, ast.Assert, ast.Break, ast.Continue, ast.Pass)):
        return True
    if isinstance(node, ast.Expr):
        return is_speaking(node.value)
    if isinstance(node, ast.Return):
        return node.value is None or isinstance(node.value, ast.Name) or _is_empty(node.value)
    if _is_aside(node):
        return True
    inner = [one for block in _blocks(node) for one in block]
    return bool(inner) and not _is_scope(node) and all(_is_inert(one) or _is_silent(one) for one in inner)


def _is_empty(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return not node.value or node.value is Ellipsis
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return not node.elts
    return isinstance(node, ast.Dict) and not node.keys


def _is_aside(node: ast.stmt) -> bool:
    """What no test is expected to run: the start as a script, code for type checkers, how an object shows itself."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return node.name in _SHOWING
    if not isinstance(node, ast.If):
        return False
    return ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING", "__name__ == '__main__'")


def _cleans_up(node: ast.stmt, block: Sequence[ast.stmt]) -> bool:
    """A handler that calls something and then raises the same exception again: a failure stays one."""
    if not isinstance(node, ast.Try) or not any(one.body is block for one in node.handlers):
        return False
    *before, last = block
    again = isinstance(last, ast.Raise) and last.exc is None
    return again and all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) for one in before)


def _prepares(node: ast.stmt) -> bool:
    """An assignment before a `raise` that only makes its words."""
    if not isinstance(node, ast.Assign):
        return False
    calls = [one.func for one in ast.walk(node.value) if isinstance(one, ast.Call)]
    return all((one.id if isinstance(one, ast.Name) else getattr(one, "attr", "")) in _PLAIN_CALLS for one in calls)


def _shape(node: ast.stmt, *, nameless: bool) -> str:
    """The statement without what lies in its blocks."""
    fields = {name: value for name, value in ast.iter_fields(node) if name not in ("body", "orelse", "finalbody")}
    fields.pop("handlers", None)
    fields.pop("cases", None)
    parts = [_dumped(value, nameless=nameless) for name, value in fields.items() if not (nameless and name == "name")]
    return f"{type(node).__name__}({', '.join(parts)})"


def _dumped(value: object, *, nameless: bool) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_dumped(one, nameless=nameless) for one in value)}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    fields = [
        _dumped(inner, nameless=nameless)
        for name, inner in ast.iter_fields(value)
        if not (nameless and name in ("id", "attr", "arg", "name"))
    ]
    return f"{type(value).__name__}({', '.join(fields)})"
