"""Tests of the base that RED changes or deletes are named; more rows for a parametrised one are not a change."""

from __future__ import annotations

import pytest

from agentforge.verification.stages.existing_tests import altered_tests

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


ROWS = "import pytest\n\n@pytest.mark.parametrize('a, b', [(1, 2), (3, 4)])\ndef test_next(a, b):\n    assert a + 1 == b\n\ndef test_one():\n    assert 1\n"


def _rewritten(text: str | None, *superseded: str) -> tuple[str, ...]:
    found = altered_tests(
        ["t.py"],
        before=lambda _path: ROWS.encode(),
        after=lambda _path: None if text is None else text.encode(),
        superseded=superseded,
    )
    return tuple(sorted(name for name, _ in found.lost))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (ROWS.replace("(1, 2), ", ""), ("t.py::test_next",)),
        (ROWS.replace("a + 1 == b", "b"), ("t.py::test_next",)),
        (ROWS.replace("assert 1", "pass"), ("t.py::test_one",)),
        (ROWS.replace("def test_one", "@pytest.mark.skip\ndef test_one"), ("t.py::test_one",)),
        (ROWS.replace("test_one", "check_one"), ("t.py::test_one",)),
        (ROWS + "def test_one(): pass\n", ("t.py::test_one",)),
        (None, ("t.py::test_next", "t.py::test_one")),
    ],
)
def test_a_test_that_says_less_is_rewritten(text: str | None, names: tuple[str, ...]) -> None:
    assert _rewritten(text) == names


def test_more_rows_more_tests_and_what_the_specification_ends_are_fine() -> None:
    assert _rewritten(ROWS.replace("(3, 4)", "(3, 4), (5, 6)") + "\ndef test_two():\n    assert 2\n") == ()
    assert _rewritten(ROWS.replace("assert 1", "assert 2"), "t.py::test_one") == ()
