"""What a repair may touch: the violating files, and what their findings need beyond them. Pure."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.conformance.engine.finding import Finding

_ABOUT_TYPES = frozenset({"mypy", "ty", "pyright", "imports"})
"""Their findings can mean that a module which the file imports is wrong."""
_ABOUT_ROOM = frozenset({"size", "complexity"})
"""Their findings can mean that code moves into a new file of the same folder."""
_ROOTS = ("", "src/", "lib/")

Read = Callable[[str], bytes | None]


def repair_scope(findings: Iterable[Finding], *, read: Read, present: Iterable[str]) -> tuple[str, ...]:
    """The paths and patterns that a repair of the findings may write, violating files first.

    Args:
        read: content of a file at the base; None = there is none.
        present: the files of the base.
    """
    listed = list(findings)
    known = frozenset(present)
    scope = [finding.path for finding in listed]
    for finding in listed:
        if finding.check in _ABOUT_TYPES and finding.path.endswith(".py"):
            scope += _imported(finding.path, read(finding.path), known)
        if finding.check in _ABOUT_ROOM:
            path = PurePosixPath(finding.path)
            scope.append(f"{path.parent}/*{path.suffix}" if str(path.parent) != "." else f"/*{path.suffix}")
    return tuple(dict.fromkeys(scope))


def _imported(path: str, source: bytes | None, known: frozenset[str]) -> Iterator[str]:
    """The modules of the project that a file imports itself."""
    try:
        tree = ast.parse(source or b"")
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        for module in _modules(node, path):
            stem = module.replace(".", "/")
            for root in _ROOTS:
                yield from (one for one in (f"{root}{stem}.py", f"{root}{stem}/__init__.py") if one in known)


def _modules(node: ast.AST, path: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        folder = PurePosixPath(path).parts[: -node.level] if node.level else ()
        base = ".".join([*folder, *([node.module] if node.module else [])])
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names)
