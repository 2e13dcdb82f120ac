"""ARCHITECTURE.md is what the code is: its pictures are drawn from it, and every function that its reads name stands where it says."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

_LINK = re.compile(r"\[`(\w+)`\]\((src/[\w/]+\.py)\)")


def _script(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "agentforge_script_architecture", root / "scripts" / "architecture.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_pictures_are_current(root: Path) -> None:
    text = (root / "ARCHITECTURE.md").read_text("utf-8")
    assert _script(root).page(text) == text, "run: make architecture"


def test_every_function_of_the_reads_stands_in_the_file_that_its_link_leads_to(root: Path) -> None:
    text = (root / "ARCHITECTURE.md").read_text("utf-8")
    wrong = [
        f"{name} in {path}"
        for name, path in _LINK.findall(text)
        if not any(getattr(node, "name", "") == name for node in ast.parse((root / path).read_text("utf-8")).body)
    ]
    assert wrong == []


def test_a_read_takes_a_few_steps(root: Path) -> None:
    text = (root / "ARCHITECTURE.md").read_text("utf-8")
    reads = [part for part in re.split(r"^#{2,3} ", text, flags=re.MULTILINE) if "\n1. " in part]
    assert len(reads) == 3
    assert [read.count("\n1. ") for read in reads] == [1, 1, 1]
    assert max(len(re.findall(r"^\d+\. ", read, re.MULTILINE)) for read in reads) <= 8


@pytest.mark.parametrize("name", ["floors", "stages", "rooms", "languages"])
def test_a_picture_that_the_page_has_no_place_for_is_an_error(root: Path, name: str) -> None:
    text = (root / "ARCHITECTURE.md").read_text("utf-8").replace(f"<!-- drawn: {name} -->", "")
    with pytest.raises(SystemExit, match=name):
        _script(root).page(text)
