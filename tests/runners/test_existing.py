"""Tests of the base that RED changes or deletes are named; more rows for a parametrised one are not a change."""

from __future__ import annotations

import pytest

from agentforge.runners.existing import altered_tests

BASE = """import pytest

@pytest.mark.parametrize("text, want", [("a", 1), ("b", 2)])
def test_rows(text, want):
    assert f(text) == want

def test_plain():
    assert f("a") == 1
"""


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ('("b", 2)]', '("b", 2), ("c", 3)]', []),
        ('("a", 1), ', '("c", 3), ("a", 1), ', []),
        ('("a", 1), ', "", ["test_rows"]),
        ('("b", 2)', '("b", 3)', ["test_rows"]),
        ("== want", ">= want", ["test_rows"]),
        ('assert f("a") == 1', "assert True", ["test_plain"]),
        ('def test_plain():\n    assert f("a") == 1\n', "", ["test_plain"]),
        ("def test_plain", "def test_renamed", ["test_plain"]),
        ("import pytest\n", "import pytest\nimport os\n", []),
    ],
)
def test_changes_of_existing_tests_are_told_from_additions(old, new, lost):
    assert old in BASE
    found = altered_tests(["t.py"], before=lambda _: BASE.encode(), after=lambda _: BASE.replace(old, new).encode())
    assert [nodeid for nodeid, _ in found.lost] == [f"t.py::{name}" for name in lost]


def test_a_deleted_file_and_what_the_specification_ends():
    found = altered_tests(
        ["t.py"], before=lambda _: BASE.encode(), after=lambda _: None, superseded=("t.py::test_rows",)
    )
    assert found.lost == (("t.py::test_plain", "was deleted"),)
