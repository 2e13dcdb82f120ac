"""Annotations of a Python file as loading it meets them: which are evaluated, and which names they need."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from agentforge.verification.inert.names import FUNCTIONS


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
