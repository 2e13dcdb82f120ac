"""Settings that can be read, and what a real build says of a project."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from agentforge.verification.roads.settings import build_metadata, unreadable

if TYPE_CHECKING:
    from tests.runners.conftest import Project

_MANIFEST = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "kit"
version = "1.0"
description = "Sums"
"""


@pytest.mark.parametrize(
    ("path", "old", "new", "line"),
    [
        ("mkdocs.yml", "a: 1\n", "a: 1\n b: [\n", 2),
        ("ruff.toml", "line-length = 80\n", "line-length = \n", 0),
        ("renovate.json", '{"a": 1}\n', '{\n "a": 1\n "b": 2\n}\n', 3),
        ("mypy.ini", "[mypy]\nstrict = True\n", "[mypy\nstrict = True\n", 0),
    ],
)
def test_what_could_be_read_at_the_base_and_cannot_be_any_more_is_told(
    path: str, old: str, new: str, line: int
) -> None:
    looked, wrong = unreadable([path], before=lambda _: old.encode(), after=lambda _: new.encode())
    assert looked == []
    assert [(one.path, one.line) for one in wrong] == [(path, line)]
    assert unreadable([path], before=lambda _: new.encode(), after=lambda _: old.encode()) == ([path], [])


def test_what_its_reader_never_could_read_is_no_fault() -> None:
    commented = b"// settings\n{}\n"
    assert unreadable([".eslintrc.json"], before=lambda _: commented, after=lambda _: commented + b"// more\n") == (
        [],
        [],
    )
    assert unreadable(["new.yml"], before=lambda _: None, after=lambda _: b"{{ template }}: [\n") == ([], [])
    assert unreadable(["mkdocs.yml"], before=lambda _: b"a: 1\n", after=lambda _: b"a: !!python/name:os.path\n") == (
        ["mkdocs.yml"],
        [],
    )


def test_the_build_is_asked_before_and_after(project: Callable[..., Project]) -> None:
    made = project({"pyproject.toml": _MANIFEST, "kit.py": "", "tests/test_kit.py": "def test_it():\n    assert 1\n"})
    base = made.tree()
    told = made.tree({"pyproject.toml": _MANIFEST.replace("Sums", "Sums of numbers")})
    assert build_metadata(made.rig(), base_tree=base, tree=told).changed == ("Summary",)
    broken = made.tree({"pyproject.toml": _MANIFEST.replace('"Sums"', '"Sums"\nkeywords = "sum"')})
    assert "keywords" in build_metadata(made.rig(), base_tree=base, tree=broken).lost


def test_a_build_that_is_not_installed_is_told_and_refuses_nothing(project: Callable[..., Project]) -> None:
    made = project({"pyproject.toml": _MANIFEST.replace("hatchling.build", "nobodys_build"), "tests/test_kit.py": ""})
    tree = made.tree()
    found = build_metadata(made.rig(), base_tree=tree, tree=tree)
    assert (found.lost, found.changed) == ("", ())
    assert "nobodys_build" in found.unread
