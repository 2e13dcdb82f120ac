"""Who is outside of a package with a front comes in by it, and a front shows what somebody outside uses and nothing else."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.meta.conftest import Source

_MOST_NAMES = 28
"""A front that shows more is none: the package has to be divided first."""


def with_front() -> tuple[str, ...]:
    """The packages that have a front, by their names below agentforge."""
    package = Path(__file__).parents[2] / "src" / "agentforge"
    return tuple(sorted(
        path.parent.name for path in package.glob("*/__init__.py") if "from agentforge.fronts import front" in path.read_text("utf-8")
    ))  # fmt: skip


FRONTS = with_front()


def imports_from_outside(sources: tuple[Source, ...]) -> Iterator[tuple[str, str, str]]:
    """Where something of a package with a front is imported by another one: file, module, name ("" for the module itself)."""
    for source in sources:
        own = source.path.removeprefix("src/agentforge/").partition("/")[0]
        for node in source.nodes:
            if isinstance(node, ast.ImportFrom):
                found = [(node.module or "", alias.name) for alias in node.names]
            elif isinstance(node, ast.Import):
                found = [(alias.name, "") for alias in node.names]
            else:
                continue
            for module, name in found:
                parts = module.split(".")
                if parts[0] == "agentforge" and len(parts) > 1 and parts[1] in FRONTS and parts[1] != own:
                    yield source.path, module, name


def test_other_packages_come_in_by_the_front(sources: tuple[Source, ...]) -> None:
    beside = [
        f"{path}: {module} {name}"
        for path, module, name in imports_from_outside(sources)
        if module.count(".") > 1 or not name
    ]
    assert beside == [], "import the name from the package; if it is not public yet, add it to the package's __init__"


def test_a_front_shows_what_others_use_and_nothing_else(sources: tuple[Source, ...]) -> None:
    used: dict[str, set[str]] = defaultdict(set)
    for _, module, name in imports_from_outside(sources):
        used[module].add(name)
    for package in FRONTS:
        shown = import_module(f"agentforge.{package}").__all__
        assert set(shown) == used[f"agentforge.{package}"], package
        assert len(shown) == len(set(shown)) <= _MOST_NAMES, package


@pytest.mark.parametrize("package", FRONTS)
def test_a_front_says_the_same_to_type_checkers_and_to_the_interpreter(package: str, root: Path) -> None:
    folder = root / "src" / "agentforge" / package
    module = import_module(f"agentforge.{package}")
    typed = {
        alias.name: node.module or ""
        for branch in ast.parse((folder / "__init__.py").read_text("utf-8")).body
        if isinstance(branch, ast.If)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(typed) == set(module.__all__)
    for name, place in typed.items():
        assert not (folder / name).exists() and not (folder / f"{name}.py").exists(), f"{name} is a module, too"
        assert module.__getattr__(name) is getattr(import_module(place), name)
