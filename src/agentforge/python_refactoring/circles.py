"""Which modules would import each other after a change, and did not before. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from agentforge.python_refactoring.project import PythonFile, PythonProject


def new_circle(project: PythonProject, files: Mapping[str, str], *, target: PythonFile) -> tuple[str, ...]:
    """The files of a circle of imports that a change makes; () it makes none.

    Args:
        files: new texts by path; target: a file that may be new.
    """
    after = _with(project, files, target)
    before_edges, after_edges = _edges(project), _edges(after)
    for path in files:
        for other in sorted(after_edges.get(path, set()) - before_edges.get(path, set())):
            way = _way(after_edges, other, path)
            if way:
                return (path, *way)
    return ()


def _with(project: PythonProject, files: Mapping[str, str], target: PythonFile) -> PythonProject:
    sources = dict(project.sources)
    for path, text in files.items():
        known = sources.get(path, target)
        sources[path] = PythonFile(path=path, text=text, module=known.module, is_test=known.is_test)
    modules = {**project.modules, **({target.module: target.path} if target.path not in project.sources else {})}
    return replace(project, sources=sources, modules=modules)


def _edges(project: PythonProject) -> dict[str, set[str]]:
    """File -> the files that it imports while it is loaded."""
    out: dict[str, set[str]] = {}
    for path, source in project.sources.items():
        found = out.setdefault(path, set())
        for alias, statement in source.names.imports.items():
            if not _while_loading(source, statement):
                continue
            if isinstance(statement, ast.ImportFrom):
                dotted = project.imported_from(source, statement)
                inner = project.module_path(f"{dotted}.{alias.name}")
                found.add(inner or project.module_path(dotted))
            else:
                found.add(project.module_path(alias.name))
        found -= {"", path}
    return out


def _while_loading(source: PythonFile, statement: ast.stmt) -> bool:
    node: ast.AST | None = source.names.parents.get(statement)
    while node is not None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return False
        node = source.names.parents.get(node)
    return True


def _way(edges: Mapping[str, set[str]], start: str, end: str) -> tuple[str, ...]:
    """A way along imports from one file to another."""
    ways: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    while ways:
        way = ways.pop(0)
        if way[-1] == end:
            return way
        for other in sorted(edges.get(way[-1], set()) - seen):
            seen.add(other)
            ways.append((*way, other))
    return ()
