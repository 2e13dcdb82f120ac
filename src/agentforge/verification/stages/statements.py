"""The statements of a Python file as what can be executed: where their first lines are, and which do nothing of weight."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agentforge.languages.python.mutated_source import is_speaking
from agentforge.languages.python.source import module_of

_BROAD = frozenset({"Exception", "BaseException"})
_SHOWING = frozenset({"__repr__", "__str__"})
_ELSEWHERE = {"typing": ("TYPE_CHECKING",), "typing_extensions": ("TYPE_CHECKING",), "sys": ("version_info",)}
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
    tree = module_of(data)
    of = _Reading(path=path, nameless=nameless, elsewhere=_spellings(tree))
    return tuple(_of_block(of, tree.body, owner="", inert=False, inside=False))


def body_of(data: bytes | None, name: str) -> int:
    """The lines of a function's or method's body as bits; 0 when the file does not define it.

    Args:
        name: dotted inside the file, like `Class.method`.
    """
    body: Sequence[ast.stmt] = module_of(data).body
    *owners, last = name.split(".")
    for owner in owners:
        body = next((one.body for one in body if isinstance(one, ast.ClassDef) and one.name == owner), [])
    found = 0
    for one in body:
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and one.name == last:
            end = one.end_lineno or one.lineno
            found |= ((1 << (end - one.body[0].lineno + 1)) - 1) << one.body[0].lineno
    return found


def bodies_at(data: bytes | None, line: int) -> int:
    """The lines of all function bodies of the function or class whose head, decorators included, begins at a line, as bits."""
    found = 0
    for one in ast.walk(module_of(data)):
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and _header(one)[0] == line:
            inner = [node for node in ast.walk(one) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
            for node in inner:
                found |= ((1 << ((node.end_lineno or node.lineno) - node.body[0].lineno + 1)) - 1) << node.body[
                    0
                ].lineno
    return found


def bare_annotations(data: bytes | None) -> int:
    """The lines of bare annotations outside of functions, such as fields of a dataclass, as bits."""
    found = 0
    waiting: list[ast.AST] = [module_of(data)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.AnnAssign) and node.value is None:
            found |= ((1 << ((node.end_lineno or node.lineno) - node.lineno + 1)) - 1) << node.lineno
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.expr)):
            waiting += ast.iter_child_nodes(node)
    return found


def branches_not_taken(data: bytes | None, before: bytes | None, *, loaded: int) -> int:
    """Lines of branches at the top of a file that this interpreter does not take, where the base branches by the same condition.

    Code for another Python, another platform or a library that is not installed cannot be run here. It is recognised by what
    was measured, not by its words: the file branched like that before, and loading it ran no line of the branch.

    Args:
        before: the file at the base.
        loaded: the lines that anything executed, loading the file included.
    """
    known = {ast.unparse(node.test) for node in _top_branches(module_of(before))}
    found = 0
    for node in _top_branches(module_of(data)):
        if ast.unparse(node.test) not in known:
            continue
        for block in (node.body, node.orelse):
            bits = 0
            for one in block:
                bits |= ((1 << ((one.end_lineno or one.lineno) - one.lineno + 1)) - 1) << one.lineno
            found |= bits if not bits & loaded else 0
    return found


def _top_branches(module: ast.Module) -> Iterator[ast.If]:
    """The `if` statements that loading a file goes through, those in the branches of others too."""
    left: list[ast.stmt] = list(module.body)
    while left:
        node = left.pop(0)
        if isinstance(node, ast.If):
            yield node
            left += [*node.body, *node.orelse]
        elif isinstance(node, ast.Try):
            left += [*node.body, *(one for handler in node.handlers for one in handler.body), *node.orelse]


def new_ones(after: Sequence[Statement], before: Sequence[Statement]) -> Iterator[Statement]:
    """The statements of `after` that are not merely statements of `before` in another place."""
    left = Counter(one.shape for one in before)
    for one in after:
        if left[one.shape] > 0:
            left[one.shape] -= 1
        else:
            yield one


def sum_of(ones: Iterable[Statement]) -> int:
    """The lines of all of some statements as bits."""
    found = 0
    for one in ones:
        found |= one.bits
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """How the statements of one file are read.

    Attributes:
        elsewhere: how the file spells what decides between this Python and others: `t.TYPE_CHECKING`, `sys.version_info`.
    """

    path: str
    nameless: bool
    elsewhere: frozenset[str]


def _spellings(tree: ast.Module) -> frozenset[str]:
    """How a file names what is true for a type checker or for another Python only, by its own imports."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {f"{one.asname or one.name}.{name}" for one in node.names for name in _ELSEWHERE.get(one.name, ())}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            known = _ELSEWHERE.get(node.module or "", ())
            found |= {one.asname or one.name for one in node.names if one.name in known}
    return frozenset(found) | {name for name in _ELSEWHERE["typing"] if _is_false(tree, name)}


def _is_false(tree: ast.Module, name: str) -> bool:
    """Whether the only value that a file gives to a name is False: type checkers alone read it otherwise."""
    bound = [
        one for one in ast.walk(tree) if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store)
    ]
    given = [one for one in tree.body if isinstance(one, ast.Assign) and ast.unparse(one) == f"{name} = False"]
    return len(bound) == len(given) == 1


def _of_block(of: _Reading, body: Sequence[ast.stmt], *, owner: str, inert: bool, inside: bool) -> Iterator[Statement]:
    refusing = bool(body) and isinstance(body[-1], ast.Raise)
    for node in body:
        quiet = inert or _is_inert(node, of) or (refusing and _prepares(node))
        if not _is_silent(node):
            first, last = _header(node)
            yield Statement(
                path=of.path, first=first, last=last, owner=owner, inert=quiet, defines=_is_scope(node), inside=inside,
                shape=_shape(node, nameless=of.nameless),
            )  # fmt: skip
        name = ".".join(part for part in (owner, node.name) if part) if _is_scope(node) else owner  # type: ignore[attr-defined]  # a scope has a name
        deeper = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for one in getattr(node, "handlers", []):
            if _swallows(one):
                yield Statement(
                    path=of.path, first=one.lineno, last=one.lineno, owner=name, inert=inert, defines=False, inside=inside,
                    shape=_dumped(one, nameless=of.nameless),
                )  # fmt: skip
        for block in _blocks(node):
            quiet = inert or _is_aside(node, of) or _cleans_up(node, block)
            yield from _of_block(of, block, owner=name, inert=quiet, inside=deeper)


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


def _is_inert(node: ast.stmt, of: _Reading) -> bool:
    if isinstance(node, (ast.Raise, ast.Assert, ast.Break, ast.Continue, ast.Pass)):
        return True
    if isinstance(node, ast.Expr):
        return is_speaking(node.value)
    if isinstance(node, ast.Return):
        return node.value is None or isinstance(node.value, ast.Name) or _is_empty(node.value)
    if _is_aside(node, of):
        return True
    inner = [one for block in _blocks(node) for one in block]
    return bool(inner) and not _is_scope(node) and all(_is_inert(one, of) or _is_silent(one) for one in inner)


def _is_empty(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return not node.value or node.value is Ellipsis
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return not node.elts
    return isinstance(node, ast.Dict) and not node.keys


def _is_aside(node: ast.stmt, of: _Reading) -> bool:
    """What no test is expected to run: the start as a script, code for type checkers or for another Python, how an object
    shows itself."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return node.name in _SHOWING
    if not isinstance(node, ast.If):
        return False
    test = node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test
    said = test.left if isinstance(test, ast.Compare) else test
    said = said.value if isinstance(said, ast.Subscript) else said
    return ast.unparse(said) in of.elsewhere or ast.unparse(test) == "__name__ == '__main__'"


def _cleans_up(node: ast.stmt, block: Sequence[ast.stmt]) -> bool:
    """A handler that calls something and then raises the same exception again: a failure stays one. Or one of an import: what is
    done without a package cannot be run where the package is."""
    if not isinstance(node, ast.Try):
        return False
    handler = next((one for one in node.handlers if one.body is block), None)
    if handler is None:
        return False
    if _is_of_import(handler) and any(isinstance(one, (ast.Import, ast.ImportFrom)) for one in node.body):
        return True
    *before, last = block
    again = isinstance(last, ast.Raise) and last.exc is None
    return again and all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) for one in before)


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes every exception and neither looks at it nor calls, raises or keeps anything.

    What it does may be little, but that it does it instead of failing has weight: a test has to run it.
    """
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    if not any(kind is None or ast.unparse(kind).rpartition(".")[2] in _BROAD for kind in kinds):
        return False
    quiet = (ast.Pass, ast.Return, ast.Continue, ast.Break)
    return all(
        isinstance(one, quiet) and not any(isinstance(part, (ast.Call, ast.Name)) for part in ast.walk(one))
        for one in handler.body
    )


def _is_of_import(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return all(isinstance(one, ast.Name) and one.id in ("ImportError", "ModuleNotFoundError") for one in kinds)


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


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _dumped(value: object, *, nameless: bool) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_dumped(one, nameless=nameless) for one in value)}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    if nameless and isinstance(value, ast.Attribute) and _is_dotted(value):
        return _dumped(ast.Name(id="", ctx=value.ctx), nameless=True)  # a name may have moved into a class or a module
    fields = [
        _dumped(inner, nameless=nameless)
        for name, inner in ast.iter_fields(value)
        if not (nameless and name in ("id", "attr", "arg", "name"))
    ]
    return f"{type(value).__name__}({', '.join(fields)})"
