"""Where the names of a Python file come from: typing, the project itself, or another project, which may read what it is given.

Annotations of a Python file as loading it meets them: which are evaluated, and which names they need.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator
from dataclasses import dataclass

TYPING = frozenset({"typing", "typing_extensions", "collections.abc", "_typeshed"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, kw_only=True)
class InertNames:
    """Where the names of a file come from.

    Attributes:
        origins: imported name -> its dotted origin.
        made: name that the file binds itself -> what it is made by: decorators, or the value that it gets.
        own_doc: the file reads its own `__doc__`.
    """

    origins: dict[str, str]
    classes: dict[str, ast.ClassDef]
    made: dict[str, list[ast.expr]]
    own_doc: bool

    def origin(self, node: ast.AST) -> str:
        """`typing.TypeVar` for `TypeVar` or `t.TypeVar`, as imported; the bare name otherwise."""
        if isinstance(node, ast.Call):
            return self.origin(node.func)
        if isinstance(node, ast.Subscript):
            return self.origin(node.value)
        if isinstance(node, ast.Attribute):
            return f"{self.origin(node.value)}.{node.attr}"
        return self.origins.get(node.id, node.id) if isinstance(node, ast.Name) else ""

    def typed(self, node: ast.AST, names: frozenset[str] | set[str]) -> bool:
        """Whether a node is one of these names of typing."""
        module, _, last = self.origin(node).rpartition(".")
        return module in TYPING and last in names

    def foreign(self, node: ast.AST, roots: frozenset[str], seen: tuple[str, ...] = ()) -> bool:
        """Whether a node is of another project than this one and Python itself, as far as the file tells."""
        root = self.origin(node).partition(".")[0]
        if root in sys.stdlib_module_names:
            return False
        first = _first_name(node)
        if first in self.origins:  # an attribute of an imported name may belong to an object of another project
            own = self.origins[first].startswith(".") or root in roots
            return not own or isinstance(_without_call(node), ast.Attribute)
        if first in seen:
            return False
        seen = (*seen, first)
        made = self.made.get(first)
        if made is not None:
            return any(self.foreign(one, roots, seen) for one in made)
        return not hasattr(builtins, first)


def _without_call(node: ast.AST) -> ast.AST:
    return _without_call(node.func) if isinstance(node, ast.Call) else node


def _first_name(node: ast.AST) -> str:
    """`a` of `a.b(c).d`; "" where there is none."""
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def names_of(tree: ast.Module) -> InertNames:
    """Look up where every name of a file comes from."""
    origins: dict[str, str] = {}
    classes: dict[str, ast.ClassDef] = {}
    made: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                origins[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            origins |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in node.names}
        elif isinstance(node, (ast.ClassDef, *FUNCTIONS)):
            made.setdefault(node.name, []).extend(node.decorator_list)
            if isinstance(node, ast.ClassDef):
                classes[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    calls = [one for one in ast.walk(node.value) if isinstance(one, ast.Call | ast.Name)]
                    made.setdefault(target.id, []).extend(calls)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            made.setdefault(node.id, [])
    own_doc = any(isinstance(node, ast.Name) and node.id == "__doc__" for node in ast.walk(tree))
    origins = {name: origin for name, origin in origins.items() if name not in made}
    return InertNames(origins=origins, classes=classes, made=made, own_doc=own_doc)


def unbound_names(tree: ast.Module, known: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Yield (name, line) for each name of a new annotation that does not exist yet when the file is loaded."""
    bound: dict[str, int] = {}
    for node in ast.walk(tree):
        told: list[str] = []
        if isinstance(node, ast.Import | ast.ImportFrom):
            told = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, (ast.ClassDef, *FUNCTIONS)):
            told = [node.name]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            told = [node.id]
        for name in told:
            line = (node.end_lineno or node.lineno) if isinstance(node, ast.ClassDef) else node.lineno  # type: ignore[attr-defined] # all of these have lines
            bound[name] = min(line, bound.get(name, line))
    if "*" in bound:
        return
    for note, deep in evaluated_annotations(tree):
        if ast.dump(note) in known:
            continue
        for one in ast.walk(note):
            if isinstance(one, ast.Name) and not hasattr(builtins, one.id):
                line = bound.get(one.id)
                if line is None or (line >= note.lineno and not deep):
                    yield one.id, note.lineno


def evaluated_annotations(tree: ast.AST, *, deep: bool = False) -> Iterator[tuple[ast.expr, bool]]:
    """Yield each annotation that Python evaluates, and whether only a call evaluates it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, FUNCTIONS):
            given = node.args
            every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
            found = [one.annotation for one in every if one is not None and one.annotation is not None]
            yield from ((one, deep) for one in (*found, *([node.returns] if node.returns else [])))
            yield from evaluated_annotations(node, deep=True)
        elif isinstance(node, ast.AnnAssign):
            if not isinstance(tree, FUNCTIONS):
                yield node.annotation, deep
        else:
            yield from evaluated_annotations(node, deep=deep)


def is_lazy(tree: ast.Module) -> bool:
    """Tell whether the file keeps its annotations as text, so that loading it evaluates none."""
    return any(
        isinstance(one, ast.ImportFrom)
        and one.module == "__future__"
        and any(alias.name == "annotations" for alias in one.names)
        for one in tree.body
    )
