"""The other runners on real projects: unittest, node, cargo, and any command that writes JUnit XML."""

from __future__ import annotations

import shutil

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


NODE = """
const { test, describe } = require("node:test");
const assert = require("node:assert");
test("adds", () => assert.equal(1 + 1, 2));
describe("group", () => { test("fails", () => assert.equal(1, 2)); });
test("later", { skip: true }, () => {});
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_node_suite_is_told_by_its_junit_report(project):
    made = project({"package.json": '{"scripts": {"test": "node --test"}}', "test/a.test.js": NODE}, env={})
    assert (made.plan.runner, made.plan.language) == ("junit", "javascript")
    run = made.run()
    assert {name: one.outcome for name, one in run.outcomes.items()} == {
        "adds": "passed",
        "group::fails": "failed",
        "later": "skipped",
    }
    assert run.complete and run.canary == "absent"


RUST = "pub fn add(a: i32, b: i32) -> i32 { a + b }\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() { assert_eq!(add(1, 1), 2); }\n    #[test]\n    fn wrong() { assert_eq!(add(1, 1), 3); }\n}\n"


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_a_cargo_suite_is_told_by_the_reports_of_its_binaries(project):
    made = project(
        {"Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": RUST}, env={}
    )
    assert made.plan.language == "rust"
    run = made.run(timeout_s=120.0)
    assert sorted((name.rpartition("::")[2], one.outcome) for name, one in run.outcomes.items()) == [
        ("adds", "passed"),
        ("wrong", "failed"),
    ]
    assert run.complete


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
