"""Finds hooks of the test runner in the files that RED wrote: a fixture serves tests, a hook decides what becomes of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

Read = Callable[[str], bytes | None]

_HARMLESS = frozenset({"pytest_addoption"})
_STEERING = frozenset({"collect_ignore", "collect_ignore_glob", "load_tests"})


def new_runner_hooks(changed: Iterable[str], *, before: Read, after: Read) -> tuple[str, ...]:
    """List hooks (`path: name`) that changed Python files define, import or name, and did not at the base.

    Hooks of plugin objects count as those of a file, so that a class of hooks that is registered later is seen too.
    """
    found: list[str] = []
    for path in changed:
        if path.endswith(".py"):
            known = set(_hooks(before(path)))
            found += [f"{path}: {name}" for name in dict.fromkeys(_hooks(after(path))) if name not in known]
    return tuple(found)


def _hooks(data: bytes | None) -> Iterator[str]:
    try:
        tree = ast.parse(data or b"")
    except (SyntaxError, ValueError):
        return
    named = [node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for name in (*named, *_bound(tree.body)):
        if (name.startswith("pytest_") and name not in _HARMLESS) or name in _STEERING:
            yield name


def _bound(body: Sequence[ast.stmt]) -> Iterator[str]:
    """The names that a module binds beside functions: assigned or imported from elsewhere, under conditions too."""
    for node in body:
        if isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, (ast.If, ast.Try, ast.With, ast.For)):
            yield from _bound([one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)])
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not _is_pytester(node):
            yield from (
                one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            )


def _is_pytester(node: ast.stmt) -> bool:
    """`pytest_plugins = "pytester"`: the runner's own plugin for testing plugins steers nothing."""
    named = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
    return isinstance(node, ast.Assign) and bool(named) and set(named) <= {"pytester"}
