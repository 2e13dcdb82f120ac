"""The package as syntax trees, parsed once for all house rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "agentforge"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, kw_only=True)
class Source:
    """One file of the package."""

    path: str
    text: str
    tree: ast.Module

    @cached_property
    def functions(self) -> tuple[tuple[str, Function], ...]:
        """Every function and method with its dotted name."""
        return tuple(_functions(self.tree, ""))

    @property
    def public_functions(self) -> Iterator[tuple[str, Function]]:
        """Functions of the module and methods of its public classes that others may call."""
        for name, node in self.functions:
            if not any(part.startswith("_") or part == "<local>" for part in name.split(".")):
                yield name, node

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree: to walk it is dear, and many rules look at it."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def classes(self) -> tuple[ast.ClassDef, ...]:
        """Every class."""
        return tuple(node for node in self.nodes if isinstance(node, ast.ClassDef))


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield f"{prefix}{child.name}", child
            yield from _functions(child, f"{prefix}{child.name}.<local>.")
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        else:
            yield from _functions(child, prefix)


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def sources() -> tuple[Source, ...]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if any(path.is_relative_to(PACKAGE / name) for name in ("demo", "evals/sets/export")):  # written for others
            continue
        text = path.read_text(encoding="utf-8")
        found.append(
            Source(path=path.relative_to(ROOT).as_posix(), text=text, tree=ast.parse(text, filename=str(path)))
        )
    return tuple(found)
