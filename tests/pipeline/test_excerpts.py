"""Excerpts on real files: what must be seen is there, whatever must be left out for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.pipeline.excerpts import code_of
from agentforge.tokens import count_tokens

LICENCE = "".join(f"# Redistribution clause number {number} of this licence applies.\n" for number in range(40))
BODY = "".join(f"    value_{number} = compute(value_{number - 1}, {number})\n" for number in range(1, 200))
LONG = f'{LICENCE}\n"""A module."""\n\nimport os\nLIMIT = 3\n\n\ndef walk(value_0):\n{BODY}    return value_199\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "long.py").write_text(LONG)
    (tmp_path / "guide.md").write_text("".join(f"line number {number} of the guide\n" for number in range(1, 400)))
    return tmp_path


def test_the_head_is_the_imports_and_not_the_licence(root: Path) -> None:
    text = code_of(root, "long.py", ["walk"], limit=600)
    assert text.startswith("import os\nLIMIT = 3\n")
    assert "Redistribution" not in text


def test_a_long_symbol_is_shown_around_the_line_that_matters(root: Path) -> None:
    line = LONG.split("\n").index("    value_100 = compute(value_99, 100)") + 1
    text = code_of(root, "long.py", ["walk"], lines=[line], limit=600)
    assert "def walk(value_0):" in text
    assert "value_100 = compute(value_99, 100)" in text
    assert "lines omitted" in text
    assert count_tokens(text) <= 640


def test_a_document_is_shown_around_the_line_that_matters(root: Path) -> None:
    text = code_of(root, "guide.md", ["guide"], lines=[200], limit=300)
    assert "line number 200 of the guide" in text
    assert "line number 300 of the guide" not in text
    assert count_tokens(text) <= 300


def test_a_file_that_fits_is_shown_whole(root: Path) -> None:
    assert code_of(root, "long.py", [], limit=20_000) == LONG
