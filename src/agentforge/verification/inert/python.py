"""What of a Python file can be noticed while it runs: everything but comments, docstrings, annotations and what only types use.

A docstring or an annotation is left out only where nobody is seen to read it: neither the project's own code (which is looked at)
nor a decorator or base class of another project (which is not).
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TypeVar, cast

from agentforge.verification.inert.names import (
    FUNCTIONS,
    TYPING,
    InertNames,
    evaluated_annotations,
    is_lazy,
    names_of,
    unbound_names,
)

_Node = TypeVar("_Node", bound=ast.AST)
Row = tuple[str, int]
"""A statement without its body, and the line it stands on."""

_VARIABLES = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})
_RECORDS = frozenset({"NamedTuple", "TypedDict"})
_MARKERS = ("ClassVar", "InitVar", "KW_ONLY")
_GENERIC = frozenset({"list", "dict", "tuple", "set", "frozenset", "type"})
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_ANNOTATION_READERS = frozenset({"get_type_hints", "get_annotations"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """What the project's own code reads of itself while it runs.

    Attributes:
        docs, annotations: where somebody reads docstrings or annotations, `path:line`; "" is nowhere.
        roots: the names under which the project's own modules are imported.
    """

    docs: str = ""
    annotations: str = ""
    roots: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class InertShape:
    """A file as it runs.

    Attributes:
        dropped: names that only types use, left out.
        unbound: (name, line) of annotations that cannot be evaluated where they stand.
    """

    rows: tuple[Row, ...]
    dropped: frozenset[str] = frozenset()
    unbound: tuple[Row, ...] = ()


def first_difference(before: Sequence[Row], after: Sequence[Row]) -> int | None:
    """The line of the first statement that differs, of the new file where it has one; None where all are equal."""
    for old, new in zip_longest(before, after):
        if old is None or new is None or old[0] != new[0]:
            return cast("Row", new or old)[1]
    return None


def shape_of(
    tree: ast.Module, readers: Readers, *, annotations: bool, known: frozenset[str] = frozenset()
) -> InertShape:
    """Leave out what cannot be noticed while the file runs. The tree is changed.

    Args:
        annotations: annotations, and what only they use, are left out as well; False leaves out docstrings alone.
        known: dumps of annotations that were evaluated before the change: they need no proof.
    """
    names = names_of(tree)
    unbound: tuple[Row, ...] = ()
    if annotations:
        tree = cast("ast.Module", _WithoutChecking(names).visit(tree))
        if not is_lazy(tree):
            unbound = tuple(unbound_names(tree, known))
    plain = _Plain(names, readers, annotations=annotations and not readers.annotations)
    tree = cast("ast.Module", plain.visit(tree))
    dropped = _drop_unused(tree, names) if annotations else frozenset()
    return InertShape(rows=tuple(_rows(tree.body)), dropped=dropped, unbound=unbound)


def evaluated(tree: ast.Module) -> frozenset[str]:
    """The annotations that loading the file evaluates, as dumps; none where they are kept as text."""
    return frozenset() if is_lazy(tree) else frozenset(ast.dump(one) for one, _ in evaluated_annotations(tree))


def reads(tree: ast.Module) -> tuple[int, int]:
    """The lines (0 = none) on which a file reads docstrings of others, and annotations; copying a docstring is no reading."""
    copied = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(_called(one) == "__doc__" for one in node.targets)
        for inner in ast.walk(node)
    }
    docs = notes = 0
    looks = any(_called(node) in ("inspect", "signature") for node in ast.walk(tree))
    for node in ast.walk(tree):
        name, line = _called(node), getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and node.value in ("__doc__", "__annotations__"):
            name = str(node.value)
        if id(node) not in copied and name in ("__doc__", "getdoc") and not isinstance(node, ast.Name | ast.alias):
            docs = docs or line
        if name in _ANNOTATION_READERS and not isinstance(node, ast.alias):
            notes = notes or line
        if name == "__annotations__" or (looks and name in ("annotation", "return_annotation")):
            notes = notes or line
    return docs, notes


def imported_from(tree: ast.Module, stem: str) -> frozenset[str]:
    """The names that a file takes from modules of this last name."""
    return frozenset(
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2] in (stem, "")
        for alias in node.names
    )


@dataclass(frozen=True, slots=True)
class _WithoutChecking(ast.NodeTransformer):
    """Takes out what stands under `if TYPE_CHECKING`; its else branch runs and stays."""

    names: InertNames

    def visit_If(self, node: ast.If) -> object:  # the name that ast calls
        self.generic_visit(node)
        if self.names.typed(node.test, {"TYPE_CHECKING"}):
            return node.orelse or ast.copy_location(ast.Pass(), node)
        negated = (
            node.test.operand if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not) else None
        )
        if negated is not None and self.names.typed(negated, {"TYPE_CHECKING"}):
            return node.body
        return node


@dataclass(slots=True)
class _Plain(ast.NodeTransformer):
    """Takes out docstrings and annotations that nobody is seen to read."""

    names: InertNames
    readers: Readers
    annotations: bool
    inside: list[ast.AST] = field(default_factory=list)

    def visit_Module(self, node: ast.Module) -> ast.AST:
        return self._block(node, documented=self.names.own_doc or bool(self.readers.docs))

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._block(node, documented=self._documented(node))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        around = self.inside[-1]
        if not self.annotations:
            return node
        if isinstance(around, ast.ClassDef) and (mode := self._mode(around)) != "plain":
            if mode == "record":
                said = ast.dump(node.annotation)
                kept = [marker for marker in _MARKERS if marker in said]
                node.annotation = ast.copy_location(ast.Constant(value=" ".join(kept)), node)
            return node
        if node.value is not None:
            return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)
        if isinstance(around, FUNCTIONS) and isinstance(node.target, ast.Name):
            others = [
                one
                for one in ast.walk(around)
                if isinstance(one, ast.Name) and one.id == node.target.id and isinstance(one.ctx, ast.Store)
            ]
            if len(others) < 2:  # it alone makes the name a local one
                node.annotation = ast.copy_location(ast.Constant(value=""), node)
                return node
        return None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if self.annotations and self.names.typed(node, {"cast"}) and len(node.args) == 2:
            told = node.args[0]
            if isinstance(told, ast.Constant | ast.Name):
                return node.args[1]
        return node

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        read = any(self._reads(one) for one in node.decorator_list)
        if self.annotations and not read:
            node.returns = None
            given = node.args
            for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
                if one is not None:
                    one.annotation = None
        return self._block(node, documented=self._documented(node))

    def _reads(self, decorator: ast.expr) -> bool:
        origin = self.names.origin(decorator)
        return self.names.foreign(decorator, self.readers.roots) or origin.endswith((".register", "singledispatch"))

    def _documented(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether somebody may read the docstring of a definition."""
        around = [one for one in self.inside if isinstance(one, ast.ClassDef)]
        decorators = [one for holder in (node, *around) for one in holder.decorator_list]
        own = isinstance(node, ast.ClassDef) and self.names.own_doc
        return own or bool(self.readers.docs) or any(self.names.foreign(one, self.readers.roots) for one in decorators)

    def _mode(self, node: ast.ClassDef, seen: tuple[str, ...] = ()) -> str:
        """plain: annotations of its body mean nothing; record: they make fields; opaque: nobody knows."""
        mode = "plain"
        for decorator in node.decorator_list:
            if self.names.origin(decorator) == "dataclasses.dataclass":
                mode = "record"
            elif self.names.foreign(decorator, self.readers.roots):
                return "opaque"
        if any(self.names.origin(word.value) != "abc.ABCMeta" for word in node.keywords if word.arg == "metaclass"):
            return "opaque"
        for base in node.bases:
            origin = self.names.origin(base)
            known = self.names.classes.get(origin)
            if known is not None and origin not in seen:
                deeper = self._mode(known, (*seen, node.name))
            elif self.names.typed(base, _RECORDS):
                deeper = "record"
            elif origin.partition(".")[0] in sys.stdlib_module_names or hasattr(builtins, origin):
                deeper = "plain"
            else:
                deeper = "plain" if self.names.typed(base, {"Generic", "Protocol"}) else "opaque"
            mode = deeper if deeper == "opaque" or mode == "plain" else mode
            if mode == "opaque":
                break
        return mode

    def _block(self, node: _Node, *, documented: bool) -> _Node:
        """Visit a definition; strings that stand alone are left out, the first one only where nobody reads it."""
        self.inside.append(node)
        self.generic_visit(node)
        self.inside.pop()
        body: list[ast.stmt] = node.body  # type: ignore[attr-defined] # modules, classes and functions have one
        first = body[0] if documented and body and _is_text(body[0]) else None
        left = [one for one in body if one is first or not (_is_text(one) or _is_nothing(one))]
        if self.annotations:
            left = [one for at, one in enumerate(left) if not self._overloads(one, left[at + 1 :])]
        if not left and not isinstance(node, ast.Module):
            left = [ast.Pass(lineno=getattr(node, "lineno", 1), col_offset=0)]
        node.body = left  # type: ignore[attr-defined] # modules, classes and functions have one
        return node

    def _overloads(self, node: ast.stmt, following: Sequence[ast.stmt]) -> bool:
        if not isinstance(node, FUNCTIONS) or not any(
            self.names.typed(one, {"overload"}) for one in node.decorator_list
        ):
            return False
        return any(isinstance(one, FUNCTIONS) and one.name == node.name for one in following)


def _drop_unused(tree: ast.Module, names: InertNames) -> frozenset[str]:
    """Leave out imports and declarations of types that nothing uses while the file runs; the names of what was left out."""
    declared = {id(one): bound for one in tree.body if (bound := _declares_type(one, names))}
    used = {name for one in tree.body if id(one) not in declared for name in _loaded(one)}
    taken: set[int] = set()
    while more := [one for one in tree.body if id(one) not in taken and declared.get(id(one), frozenset()) & used]:
        taken |= {id(one) for one in more}
        used |= {name for one in more for name in _loaded(one)}
    kept: list[ast.stmt] = []
    for one in tree.body:
        if isinstance(one, ast.Import | ast.ImportFrom) and id(one) in declared:
            one.names = [alias for alias in one.names if (alias.asname or alias.name) in used]
        if id(one) not in declared or id(one) in taken:
            kept.append(one)
    tree.body = kept
    return frozenset(name for bound in declared.values() for name in bound) - used


def _declares_type(node: ast.stmt, names: InertNames) -> frozenset[str]:
    """The names of a statement at the top of a file that may be of use to types alone; empty for every other statement."""
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return frozenset({"annotations"}) if [one.name for one in node.names] == ["annotations"] else frozenset()
    if isinstance(node, ast.ImportFrom) and node.module in TYPING and not node.level:
        return frozenset(alias.asname or alias.name for alias in node.names if alias.name != "*")
    if isinstance(node, ast.Import) and all(alias.name in ("typing", "typing_extensions") for alias in node.names):
        return frozenset(alias.asname or alias.name for alias in node.names)
    if isinstance(node, ast.ClassDef) and not node.decorator_list:
        typed = any(names.typed(base, {"Protocol", *_RECORDS}) for base in node.bases)
        return frozenset({node.name}) if typed and _only_declares(node) else frozenset()
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        value = node.value
        variable = isinstance(value, ast.Call) and names.typed(value, _VARIABLES)
        root = names.origin(value) if isinstance(value, ast.Subscript) else ""
        alias = root in _GENERIC or root.rpartition(".")[0] in TYPING
        return frozenset({node.targets[0].id}) if variable or alias else frozenset()
    return frozenset()


def _only_declares(node: ast.ClassDef) -> bool:
    """Whether a class of types has nothing in it that runs."""
    for one in node.body:
        if isinstance(one, FUNCTIONS):
            if any(not isinstance(inner, ast.Pass) and not _is_nothing(inner) for inner in one.body):
                return False
        elif not isinstance(one, ast.AnnAssign | ast.Pass) or (isinstance(one, ast.AnnAssign) and one.value):
            return False
    return True


def _loaded(node: ast.AST) -> set[str]:
    """The names that a statement uses; names in `__all__` count."""
    found = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    if any(_called(one) == "__all__" for one in ast.walk(node)):
        found |= {str(one.value) for one in ast.walk(node) if isinstance(one, ast.Constant)}
    return found


def _rows(body: Sequence[ast.AST]) -> Iterator[Row]:
    """Every statement without its bodies, and where each body ends."""
    for node in body:
        blocks = [(name, getattr(node, name)) for name in _BLOCKS if isinstance(getattr(node, name, None), list)]
        head = type(node)(**{**dict(ast.iter_fields(node)), **{name: [] for name, _ in blocks}}) if blocks else node
        line = getattr(node, "lineno", 0)
        yield ast.dump(head), line
        for name, inner in blocks:
            if inner:
                yield f"{name}:", line
                yield from _rows(inner)
                yield "end", line


def _called(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.alias):
        return node.name
    return node.id if isinstance(node, ast.Name) else ""


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_nothing(node: ast.AST) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
