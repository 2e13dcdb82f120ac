"""Changed lines that only processes run of which nothing is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentforge.suite import Edits, run_tree
from agentforge.testing.coverage import traced_of
from agentforge.testing.outcome import SuiteRun
from agentforge.verification.counterexamples import other_processes
from agentforge.verification.counterexamples.other_processes import reached_elsewhere
from agentforge.verification.stages.statements import statements

TOOL = """import sys


def double(n):
    if n > 100:
        return 0
    n = n * 2
    return n


if __name__ == '__main__':
    print(double(4))
"""
TESTS = """import os
import subprocess
import sys


def test_in_a_process_with_its_own_environment():
    done = subprocess.run([sys.executable, "-I", "tool.py"], capture_output=True, env={"PATH": os.environ["PATH"]})
    assert done.stdout == b"8\\n"


def test_nothing():
    assert True
"""


SHARED = """import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def answers():
    env = {"PATH": os.environ["PATH"]}
    code = "import sys; sys.path.insert(0, '.'); import tool\\nfor n in sys.stdin: print(tool.double(int(n)), flush=True)"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": env}
    with subprocess.Popen([sys.executable, "-I", "-c", code], **pipes) as server:
        def ask(number):
            server.stdin.write(f"{number}\\n")
            server.stdin.flush()
            return server.stdout.readline().strip()

        yield ask
        server.stdin.close()


def test_a_first_one_starts_it(answers):
    assert answers


def test_small(answers):
    assert answers(4) == "8"


def test_large(answers):
    assert answers(400) == "0"
"""


def test_a_process_that_another_test_of_the_file_has_started_counts(project: Callable[..., Any]) -> None:
    made = project({"tool.py": TOOL, "tests/test_tool.py": SHARED})
    run = made.run(trace=True)
    traced, missed = (
        traced_of(run),
        [one for one in statements("tool.py", TOOL.encode()) if one.inside and not one.defines],
    )
    assert (len(run.passed_ids), traced.opaque) == (3, {"tests/test_tool.py::test_a_first_one_starts_it"})
    given = {"traced": traced, "passing": run.passed_ids, "edits": Edits(files={}), "within_s": 60.0}
    now = reached_elsewhere(made.rig(), made.tree(), missed, **given)
    assert now.executing("tool.py", 1 << 6) == ("tests/test_tool.py::test_large",)


def test_a_line_is_run_where_its_process_ends_there_and_its_test_notices(project: Callable[..., Any]) -> None:
    made = project({"tool.py": TOOL, "tests/test_tool.py": TESTS})
    tree, run = made.tree(), made.run(trace=True)
    traced, name = traced_of(run), "tests/test_tool.py::test_in_a_process_with_its_own_environment"
    assert (run.passed_ids, traced.opaque, traced.lines("tool.py")) == (
        (name, "tests/test_tool.py::test_nothing"), {name}, 0,
    )  # fmt: skip
    missed = [one for one in statements("tool.py", TOOL.encode()) if one.inside and not one.defines]

    def found(**changes: Any) -> list[int]:
        given = {"traced": traced, "passing": run.passed_ids, "edits": Edits(files={}), "within_s": 60.0, **changes}
        now = reached_elsewhere(made.rig(), tree, missed, **given)
        assert now.executing("tool.py", 1 << 7) in ((), (name,))
        return [one.first for one in missed if one.bits & now.lines("tool.py")]

    assert found() == [5, 7, 8]
    assert found(passing=()) == []
    assert found(within_s=0.0) == []


def test_a_statement_is_tried_with_the_tests_that_notice_all_of_them_within_a_time_that_begins_behind_that_run(
    project: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = project({"tool.py": TOOL, "tests/test_tool.py": SHARED})
    run = made.run(trace=True)
    rows = [one for one in statements("tool.py", TOOL.encode()) if one.first in (6, 7)]
    asked: list[int] = []

    def counted(*given: Any, **more: Any) -> SuiteRun:
        asked.append(len(more["tests"]))
        return run_tree(*given, **more)

    monkeypatch.setattr(other_processes, "run_tree", counted)
    monkeypatch.setattr(other_processes.time, "monotonic", lambda: 10.0 * len(asked))
    given = {"traced": traced_of(run), "passing": run.passed_ids, "edits": Edits(files={}), "within_s": 15.0}
    now = reached_elsewhere(made.rig(), made.tree(), rows, **given)
    assert asked == [3, 2, 2]
    assert now.executing("tool.py", 1 << 6) == ("tests/test_tool.py::test_large",)
    assert "tests/test_tool.py::test_small" in now.executing("tool.py", 1 << 7)


@pytest.mark.parametrize("text", ["def f(n):\n    if n: return 1\n", "def f(n):\n    a = 1; return a\n"])
def test_a_statement_that_does_not_begin_its_line_is_not_tried(project: Callable[..., Any], text: str) -> None:
    tests = TESTS.replace('b"8\\n"', 'b""').replace('"tool.py"]', '"-c", "import tool; tool.f(1)"]')
    made = project({"tool.py": text, "tests/test_tool.py": tests})
    run = made.run(trace=True)
    missed = [one for one in statements("tool.py", text.encode()) if one.inside and not one.defines]
    given = {"traced": traced_of(run), "passing": run.passed_ids, "edits": Edits(files={}), "within_s": 60.0}
    now = reached_elsewhere(made.rig(), made.tree(), missed, **given)
    assert now.lines("tool.py") & ~(1 << 2) == 0
