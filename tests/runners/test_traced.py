"""What each test executes, recorded in the project's own interpreter."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from agentforge.languages.python.source import reached
from agentforge.testing.coverage import bits_of, ranges_of, traced_of

TOOL = "import sys\n\n\ndef double(n):\n    return n * 2\n\n\nif __name__ == '__main__':\n    print(double(4))\n"
TESTS = """import subprocess
import sys

import pytest

import tool


def test_inside():
    assert tool.double(1) == 2


def test_in_a_child():
    assert subprocess.run([sys.executable, "tool.py"], capture_output=True).stdout == b"8\\n"


def test_nothing():
    with pytest.raises(ImportError):
        import coverage.nothing
"""


@given(st.sets(st.integers(min_value=1, max_value=400)))
def test_ranges_and_bits_say_the_same(lines: set[int]) -> None:
    bits = sum(1 << line for line in lines)
    assert bits_of(ranges_of(bits)) == bits


def test_lines_are_recorded_by_test_and_children_too(project: Callable[..., Any]) -> None:
    made = project({"tool.py": TOOL, "tests/test_tool.py": TESTS})
    run = made.run(trace=True)
    plain = made.run()
    assert {name: one.outcome for name, one in run.outcomes.items()} == {
        name: one.outcome for name, one in plain.outcomes.items()
    }
    traced = traced_of(run)
    name = "tests/test_tool.py::test_{}".format
    assert traced.measured
    assert traced.executing("tool.py", 1 << 5) == (name("inside"), name("in_a_child"))
    assert ranges_of(traced.tests[name("in_a_child")]["tool.py"]) == ["1", "4-5", "8-9"]
    assert not traced.tests[name("nothing")]
    assert not traced.lost and not traced.opaque
    assert not traced_of(plain).measured


def test_a_child_that_is_spawned_counts_once(project: Callable[..., Any]) -> None:
    tests = TESTS.replace("capture_output=True", "capture_output=True, close_fds=False")
    traced = traced_of(project({"tool.py": TOOL, "tests/test_tool.py": tests}).run(trace=True))
    assert traced.measured and not traced.opaque


def test_lines_are_recorded_where_our_own_python_has_no_sqlite(
    project: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project's python imports coverage, ours needs only its place."""
    for name in [one for one in sys.modules if one.partition(".")[0] in ("coverage", "sqlite3")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "_sqlite3", None)
    made = project({"tool.py": TOOL, "tests/test_tool.py": TESTS})
    assert traced_of(made.run(trace=True)).measured


def test_a_tracer_of_the_project_wins_and_is_told(project: Callable[..., Any]) -> None:
    tests = "import sys\nimport pytest\n\n\ndef test_own():\n    sys.settrace(lambda *a: None)\n\n\ndef test_after():\n    pass\n"
    run = project({"tool.py": TOOL, "tests/test_tool.py": tests}).run(trace=True)
    assert len(run.passed_ids) == 2
    assert traced_of(run).lost == "tests/test_tool.py::test_own"


def test_unittest_suites_are_recorded(project: Callable[..., Any]) -> None:
    tests = "import unittest\nimport tool\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(tool.double(2), 4)\n"
    run = project({"tool.py": TOOL, "tests/__init__.py": "", "tests/test_tool.py": tests}).run(trace=True)
    assert run.runner == "unittest"
    assert traced_of(run).executing("tool.py", 1 << 5) == ("tests/test_tool.py::T::test_a",)


@pytest.mark.parametrize(
    ("start", "found"),
    [
        ("tests/test_a.py", {"src/pkg/__init__.py", "src/pkg/a.py", "src/pkg/b.py", "tests/conftest.py"}),
        ("src/pkg/b.py", set()),
    ],
)
def test_imports_are_followed(start: str, found: set[str]) -> None:
    files = {
        "tests/test_a.py": b"from pkg.a import x\n",
        "tests/conftest.py": b"",
        "src/pkg/__init__.py": b"",
        "src/pkg/a.py": b"from . import b\n",
        "src/pkg/b.py": b"import os\n",
        "src/pkg/c.py": b"",
    }
    assert reached([start], present=files, roots=("src", "."), read=files.get) == found
