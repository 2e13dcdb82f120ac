"""Tests of the base: which RED rewrote, and what their old text says of a new tree."""

from __future__ import annotations

import pytest

from agentforge.runners.measure_green import Promise, measure_green
from agentforge.runners.old_tests import rewritten_tests

ROWS = "import pytest\n\n@pytest.mark.parametrize('a, b', [(1, 2), (3, 4)])\ndef test_next(a, b):\n    assert a + 1 == b\n\ndef test_one():\n    assert 1\n"


def _rewritten(text: str | None, *superseded: str) -> tuple[str, ...]:
    return rewritten_tests(
        ["t.py"],
        before=lambda _path: ROWS.encode(),
        after=lambda _path: None if text is None else text.encode(),
        superseded=superseded,
    )


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


BASE = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "tests/limits.py": "TOLERANCE = 0\n",
    "tests/test_add.py": "from calc import add\nfrom limits import TOLERANCE\ndef test_add(): assert abs(add(1, 2) - 3) <= TOLERANCE\n",
}


def test_a_widened_constant_of_the_tests_does_not_hide_what_broke(project) -> None:
    made = project(BASE)
    rig, base = made.rig(), made.tree()
    wide = {"tests/limits.py": "TOLERANCE = 10\n"}
    red_tree = made.tree(wide)
    bad = made.tree({"calc.py": "def add(a, b):\n    return a - b\n"})
    promise = Promise(red={"tests": []}, baseline={"passed_ids": ["tests/test_add.py::test_add"]}, scope=("calc.py",))
    facts, _ = measure_green(rig, promise, base_tree=base, red_tree=red_tree, tree=bad)
    assert facts["regressions"] == ["tests/test_add.py::test_add"] and not facts["no_regressions"]
    facts, _ = measure_green(rig, promise, base_tree=base, red_tree=red_tree, tree=red_tree)
    assert facts["regressions"] == [] and facts["no_regressions"]
