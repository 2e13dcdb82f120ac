"""Reading Python without running it: its tree, and which files of a project its imports lead to."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from agentforge.workspace.git.repository import Read

_MOST_FILES = 2000
_SOURCES = ("src", "lib", "python")  # an installed package is found there, though the folder stands on no path


def module_of(data: bytes | str | None) -> ast.Module:
    """Parse a file; the module is empty where there is none, or where it is no Python of this version."""
    try:
        return ast.parse(data or b"")
    except (SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])


def reached(start: Iterable[str], *, present: Collection[str], roots: Iterable[str], read: Read) -> frozenset[str]:
    """Repository paths that are imported from `start`, themselves left out.

    Args:
        present: all paths of the tree.
        roots: folders that stand on `sys.path`, relative to the repository.
    """
    first = tuple(start)
    folders = _folders(present, roots)
    open_paths, seen = list(first), set(first)
    while open_paths and len(seen) < _MOST_FILES:
        path = open_paths.pop()
        for found in (*_conftests(path, present), *_imported(path, read(path), present, folders)):
            if found not in seen:
                seen.add(found)
                open_paths.append(found)
    return frozenset(seen - set(first))


def imported_by(path: str, data: bytes, *, present: Collection[str], roots: Iterable[str]) -> frozenset[str]:
    """The repository paths that the import statements of one file name, packages above them included."""
    return frozenset(_imported(path, data, present, _folders(present, roots)))


def starred(path: str, *, present: Collection[str], roots: Iterable[str], read: Read) -> frozenset[str]:
    """The repository paths whose names a file takes over by `from module import *`, directly or through one of them."""
    folders = _folders(present, roots)
    open_paths, seen = [path], {path}
    while open_paths and len(seen) < _MOST_FILES:
        here = open_paths.pop()
        for node in _statements(read(here) or b"") or ():
            if not isinstance(node, ast.ImportFrom) or node.names[0].name != "*":
                continue
            for folder in _places(node, here, folders):
                files = list(_files(_module(node), (folder,), present))[-1:]  # the packages above give nothing
                open_paths += [one for one in files if one not in seen]
                seen.update(files)
    return frozenset(seen - {path})


def _folders(present: Collection[str], roots: Iterable[str]) -> tuple[str, ...]:
    tops = {path.partition("/")[0] for path in present if "/" in path}
    known = [root for root in _SOURCES if root in tops]
    return tuple(dict.fromkeys(["" if one in (".", "") else one.strip("/") for one in roots] + known))


def _conftests(path: str, present: Collection[str]) -> Iterator[str]:
    """What a runner loads before a file."""
    for parent in (str(one) for one in PurePosixPath(path).parents if str(one) != "."):
        if f"{parent}/conftest.py" in present and path != f"{parent}/conftest.py":
            yield f"{parent}/conftest.py"


def _imported(path: str, data: bytes | None, present: Collection[str], folders: tuple[str, ...]) -> Iterator[str]:
    statements = _statements(data or b"")
    if statements is None:
        return
    own = str(PurePosixPath(path).parent)
    for node in statements:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(alias.name.replace(".", "/"), (*folders, own), present)
        else:
            base, places = _module(node), _places(node, path, folders)
            yield from _files(base, places, present)
            for alias in node.names:
                yield from _files(f"{base}/{alias.name}".strip("/"), places, present)


@lru_cache(maxsize=4096)
def _statements(data: bytes) -> tuple[ast.Import | ast.ImportFrom, ...] | None:
    """The import statements of a source; None when it cannot be read. Each of many test files asks for the same sources."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return None
    return tuple(one for one in ast.walk(tree) if isinstance(one, (ast.Import, ast.ImportFrom)))


def _module(node: ast.ImportFrom) -> str:
    return (node.module or "").replace(".", "/")


def _places(node: ast.ImportFrom, path: str, folders: tuple[str, ...]) -> tuple[str, ...]:
    """The folders in which the module of an import statement is looked for."""
    parents = PurePosixPath(path).parents
    return (str(parents[node.level - 1]),) if _inside(path, node.level) else (*folders, str(parents[0]))


def _inside(path: str, level: int) -> bool:
    return 0 < level <= len(PurePosixPath(path).parents)


def _files(module: str, folders: Iterable[str], present: Collection[str]) -> Iterator[str]:
    """The file of a module and the `__init__.py` of the packages above it."""
    parts = module.split("/") if module else []
    for folder in folders:
        prefix = "" if folder in ("", ".") else f"{folder}/"
        candidates = [f"{prefix}{'/'.join(parts[:end])}/__init__.py" for end in range(1, len(parts) + 1)]
        candidates += [f"{prefix}{module}.py"] if parts else [f"{prefix}__init__.py"]
        found = [one for one in candidates if one in present]
        yield from found
