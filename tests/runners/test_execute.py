"""unittest, and any command that writes JUnit XML, on real projects."""

from __future__ import annotations

import pytest

from agentforge.errors import ToolchainError

UNIT = """
import unittest
from calc import add
class TestAdd(unittest.TestCase):
    def test_ok(self): self.assertEqual(add(1, 1), 2)
    def test_bad(self): self.assertEqual(add(1, 1), 3)
    def test_crash(self): add(None, 1)
    def test_parts(self):
        for n in (1, 2):
            with self.subTest(n=n): self.assertEqual(n, 1)
    @unittest.skip("no")
    def test_skip(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): pass
"""


def test_a_unittest_suite_is_told_by_id_with_canaries(project):
    made = project(
        {"calc.py": "def add(a, b):\n    return a + b\n", "tests/__init__.py": "", "tests/test_a.py": UNIT,
         "tests/test_b.py": "import unittest\nfrom calc import nothing\n"}
    )  # fmt: skip
    assert (made.plan.runner, made.plan.test_paths) == ("unittest", ("tests",))
    run = made.run()
    assert (run.complete, run.canary, run.agree) == (True, "held", None)
    short = {name.removeprefix("tests/test_a.py::TestAdd::"): one.outcome for name, one in run.outcomes.items()}
    assert short == {
        "test_ok": "passed", "test_bad": "failed", "test_crash": "failed", "test_parts": "failed", "test_skip": "skipped",
        "test_expected": "xfailed", "test_unexpected": "xpassed",
    }  # fmt: skip
    assert run.outcomes["tests/test_a.py::TestAdd::test_bad"].failure.in_test
    assert [(one.id, one.failure.names) for one in run.collection_errors] == [("tests/test_b.py", ("nothing", "calc"))]
    alone = made.run(tests=("tests/test_a.py::TestAdd::test_ok",), seed=3)
    assert list(alone.outcomes) == ["tests/test_a.py::TestAdd::test_ok"] and alone.complete


def test_a_patched_unittest_is_caught_by_the_canary(project):
    patch = "import unittest\nunittest.TestCase._callTestMethod = lambda self, method: None\n"
    code = "import unittest\nimport calc\nclass T(unittest.TestCase):\n    def test_bad(self): self.fail()\n"
    run = project({"calc.py": patch, "test_a.py": code}).run()
    assert run.canary == "broken" and not run.complete


WRITER = """
import sys
open(sys.argv[1], "w").write('<testsuite name="s"><testcase classname="T" name="a"/><testcase classname="T" name="a"/>'
                             '<testcase classname="T" name="b"><failure message="no"/></testcase></testsuite>')
sys.exit(int(sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("command", "junit", "complete", "problem"),
    [
        ("python3 w.py {junit} 1", "", True, None),
        ("python3 w.py out.xml 1", "out.xml", True, None),
        ("python3 w.py out.xml 0", "out.xml", False, "ended with 0, but 1 tests"),
        ("python3 w.py other.xml 1", "out.xml", False, "wrote no JUnit report"),
    ],
)
def test_a_command_is_believed_only_with_its_report(project, command, junit, complete, problem):
    run = project({"w.py": WRITER, "out.xml": "<testsuite/>"}, command=command, junit=junit, env={}).run()
    assert run.complete is complete
    assert problem is None or problem in run.problems[0]
    if complete:
        assert {name: one.outcome for name, one in run.outcomes.items()} == {
            "T::a": "passed",
            "T::a#2": "passed",
            "T::b": "failed",
        }


def test_a_repository_without_tests_that_can_run_says_so(project):
    made = project({"README": "nothing"})
    with pytest.raises(ToolchainError, match=r"set \[test\] command"):
        made.run()


def test_a_junit_case_finds_its_file_by_its_class_name(project):
    writer = (
        "import sys\nopen(sys.argv[1], 'w').write('<testsuite><testcase classname=\"a.b.FooTest\" name=\"x[a::b]/ü\"/>'\n"
        '\'<testcase classname="pkg.test_c.TestD" name="y"><error type="KeyError" message="KeyError: \\\'k\\\'"/></testcase>\'\n'
        '\'<testcase classname="pkg.test_c" name="z"><skipped/></testcase></testsuite>\')\nsys.exit(1)\n'
    )
    files = {"w.py": writer, "src/test/java/a/b/FooTest.java": "", "pkg/test_c.py": ""}
    run = project(files, command="python3 w.py {junit}", env={}).run()
    assert {name: one.outcome for name, one in run.outcomes.items()} == {
        "src/test/java/a/b/FooTest.java::x[a::b]/ü": "passed",
        "pkg/test_c.py::TestD::y": "error",
        "pkg/test_c.py::z": "skipped",
    }
    assert run.outcomes["pkg/test_c.py::TestD::y"].failure.exc_type == "KeyError"
    assert list(project(files, command="python3 w.py {junit}", env={}).run(tests=("pkg/test_c.py",)).outcomes) == [
        "pkg/test_c.py::TestD::y",
        "pkg/test_c.py::z",
    ]


def test_tests_can_commit_as_somebody_who_is_not_the_user_and_a_config_of_their_own_counts(project, monkeypatch):
    monkeypatch.setenv("GIT_AUTHOR_NAME", "the user")
    body = """
import os, subprocess

def git(*words, cwd):
    return subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()

def test_commit(tmp_path):
    git("init", "-q", ".", cwd=tmp_path)
    git("commit", "-q", "--allow-empty", "-m", "one", cwd=tmp_path)
    assert git("log", "-1", "--format=%an %ae", cwd=tmp_path) == "Test Run test@localhost"
    git("config", "user.name", "Ann", cwd=tmp_path)
    git("commit", "-q", "--allow-empty", "-m", "two", cwd=tmp_path)
    assert git("log", "-1", "--format=%an", cwd=tmp_path) == "Ann"

def test_a_folder_of_somebody_else(tmp_path):
    git("init", "-q", ".", cwd=tmp_path)
    environ = {**os.environ, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    subprocess.run(["git", "status"], cwd=tmp_path, env=environ, check=True)
"""
    run = project({"test_git.py": body}).run()
    assert {name: one.outcome for name, one in run.outcomes.items()} == {
        "test_git.py::test_commit": "passed", "test_git.py::test_a_folder_of_somebody_else": "passed",
    }, [one.failure for one in run.outcomes.values()]  # fmt: skip
