"""Finds new product code that replaces the clock, chance or a built-in of its process.

Objects that claim to be others are seen through where results are compared (`typed_comparison.py`); what a result depends on,
and what a call does beside giving it, is measured (`measured_dependencies.py`).

New against the base: the places of changed files that the files had nowhere before.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

_PATCHED = frozenset(
    {"time", "random", "datetime", "builtins", "math", "operator", "json", "unittest", "pytest", "_pytest"}
)


def new_replacements(changed: Iterable[str], *, before: Read, after: Read) -> tuple[Place, ...]:
    """List the places of changed product files that replace such a thing, and did not at the base.

    Args:
        changed: product files; see `stages/product_files.py`.
    """
    return new_places([path for path in changed if path.endswith(".py")], _replacements, before=before, after=after)


def _replacements(_path: str, data: bytes) -> list[tuple[int, str]]:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return []
    return sorted(set(_patches(tree)))


def _patches(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Assignments to clock, chance and built-ins."""
    modules = {
        alias.asname or alias.name: alias.name for alias in _imports(tree) if alias.name.split(".")[0] in _PATCHED
    }
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else []
        named = [one for one in targets if isinstance(one, ast.Attribute)]
        owners = [(one.value, one.attr) for one in named]
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in ("setattr", "builtins.setattr")
            and len(node.args) == 3
        ):
            owners = [(node.args[0], ast.unparse(node.args[1]))]
        for owner, attribute in owners:
            name = ast.unparse(owner)
            if name in modules:
                yield node.lineno, f"{name}.{attribute.strip(chr(39))} is replaced"  # type: ignore[attr-defined]  # statement or call


def _imports(tree: ast.Module) -> Iterator[ast.alias]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from node.names
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield ast.alias(name=node.module, lineno=node.lineno, col_offset=0)


Read = Callable[[str], bytes | None]
Reader = Callable[[str, bytes], Iterable[tuple[int, str]]]
"""Given a path and the file's bytes, names (line, text) of the places of one kind."""
_MOST_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place that the base does not have."""

    path: str
    line: int
    text: str


def new_places(changed: Iterable[str], reader: Reader, *, before: Read, after: Read) -> tuple[Place, ...]:
    """List the places of changed files that the base does not have; one that only moved, even to another file, is not new."""
    files = tuple(changed)
    known = Counter(text for path in files for _, text in reader(path, before(path) or b""))
    found: list[Place] = []
    for path in files:
        for line, text in reader(path, after(path) or b""):
            if known[text] > 0:
                known[text] -= 1
            else:
                found.append(Place(path=path, line=line, text=text[:_MOST_CHARS]))
    return tuple(found)
