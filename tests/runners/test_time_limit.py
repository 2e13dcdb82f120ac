"""A test that does not end: it is stopped alone, and it is a right reason only where the work is."""

from __future__ import annotations

import pytest

from agentforge.languages.symbols import Symbol
from agentforge.suite.test_environment import run_tree, sound
from agentforge.testing.outcome import Failure, SuiteRun, TestOutcome
from agentforge.verification.stages import baseline as measure_baseline
from agentforge.verification.stages.classification import Expectation, classify_failure
from agentforge.verification.stages.green import Promise, _suite_result
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite

BITS = "def bits(n):\n    while n:\n        n ^= n - 1 if n else 0\n        n = n or 1\n    return n\n"
PATH = "tests/test_bits.py"
CODE = """
def test_two():
    from bits import bits
    assert bits(5) == 2
def test_zero():
    from bits import bits
    assert bits(0) == 0
"""
SYMBOL = {"name": "bits", "file": "bits.py", "kind": "function", "signature": "def bits(n)", "change": "changed"}


@pytest.mark.parametrize("runner", ["pytest", "unittest"])
def test_one_test_is_stopped_and_the_others_still_run(project, runner):
    code = (
        CODE
        if runner == "pytest"
        else "import unittest\nfrom bits import bits\nclass T(unittest.TestCase):\n"
        "    def test_two(self):\n        self.assertEqual(bits(5), 2)\n    def test_zero(self):\n        self.assertEqual(bits(0), 0)\n"
    )
    made = project({"bits.py": BITS, PATH: code, "tests/__init__.py": ""})
    assert made.plan.runner == runner
    rig = made.rig(test_limit_s=0.3)
    run = run_tree(rig, made.tree())
    assert sound(run, rig.plan), run.problems
    outcomes = {nodeid.rpartition("::")[2]: one for nodeid, one in run.outcomes.items()}
    assert outcomes["test_zero"].passed
    failure = outcomes["test_two"].failure
    assert failure is not None and failure.exc_type == "DoesNotEnd"
    assert (failure.file, failure.in_test, failure.names) == ("bits.py", False, ("bits",))


def test_red_takes_an_endless_loop_of_what_is_fixed_for_a_failing_target(project):
    made = project({"bits.py": BITS})
    base, red = made.tree(), made.tree({PATH: CODE})
    listed = [
        {"path": PATH, "name": "test_two", "kind": "target"},
        {"path": PATH, "name": "test_zero", "kind": "guard"},
    ]
    suite = Suite(tests=listed, symbols=[SYMBOL], action="fix", modified=["bits.py"])
    facts, _ = measure_red(made.rig(test_limit_s=0.3), suite, base_tree=base, red_tree=red)
    assert facts["all_tests_fail"] and facts["right_reason"] and facts["guards_pass"]
    assert facts["test_limit_s"] == 0.3
    target = next(row for row in facts["tests"] if row["kind"] == "target")
    assert "does not end" in target["reason"] and "bits.py" in target["reason"]


@pytest.mark.parametrize(
    ("failure", "right"),
    [
        (Failure(exc_type="DoesNotEnd", message="does not end", file="bits.py", line=3), True),
        (Failure(exc_type="DoesNotEnd", message="does not end", file="other.py", line=3), True),
        (Failure(exc_type="DoesNotEnd", message="does not end", file=PATH, in_test=True), False),
        (Failure(exc_type="DoesNotEnd", message="does not end"), False),
    ],
)
def test_only_a_loop_in_code_of_the_project_is_a_right_reason(failure, right):
    symbols = (Symbol(name="bits", file="bits.py", kind="function", change="changed"),)
    assert classify_failure(failure, Expectation(symbols=symbols, modified=("bits.py",))).right is right


def test_what_was_stopped_at_the_base_must_end_within_the_same_limit():
    nodeid = f"{PATH}::test_two"
    red = {"tests": [{"id": nodeid}], "test_limit_s": 5.0}
    run = SuiteRun(outcomes={nodeid: TestOutcome(id=nodeid, outcome="passed", duration_s=6.0)})
    failing, _ = _suite_result(Promise(red=red, baseline={}), [run])
    assert "does not end within 5 s" in failing[nodeid]
    quick = SuiteRun(outcomes={nodeid: TestOutcome(id=nodeid, outcome="passed", duration_s=4.0)})
    assert _suite_result(Promise(red=red, baseline={}), [quick]) == ({}, [])


def test_a_test_of_the_base_that_does_not_end_costs_its_own_limit_and_a_slow_one_passes(project, monkeypatch):
    monkeypatch.setattr(measure_baseline, "_LEAST_S", 0.4)
    slow = (
        "from time import monotonic\ndef test_slow():\n    end = monotonic() + 0.6\n    while monotonic() < end: pass\n"
    )
    made = project({"bits.py": BITS, PATH: CODE, "tests/test_slow.py": slow})
    facts, evidence = measure_baseline.measure_baseline(made.rig(timeout_s=12.0), tree=made.tree())
    assert facts["measured"] and not facts["timed_out"]
    assert facts["hung"] == facts["failing"] == [f"{PATH}::test_two"]
    assert "test_two does not end" in facts["problems"][0]
    assert facts["test_limit_s"] >= 1.2
    assert sorted(evidence["passed_ids"]) == [f"{PATH}::test_zero", "tests/test_slow.py::test_slow"]
