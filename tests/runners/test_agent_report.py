"""What an agent reads of a run stays short and tells failures first."""

from __future__ import annotations

from agentforge.suite.agent_report import failing_text, report_for_agent, report_text
from agentforge.testing.outcome import Failure, SuiteRun, TestOutcome, run_of, run_value
from agentforge.tokens import count_tokens


def _run(failures, passes=3):
    outcomes = [TestOutcome(id=f"t.py::ok{n}", outcome="passed") for n in range(passes)]
    for number in range(failures):
        text = "\n".join(f"t.py:{line} in test_{number}" for line in range(30)) + "\nAssertionError: assert 1 == 2"
        failure = Failure(
            exc_type="AssertionError", message="assert 1 == 2", file="t.py", line=3, in_test=True, text=text
        )
        outcomes.append(TestOutcome(id=f"t.py::bad{number:03}", outcome="failed", failure=failure))
    ids = tuple(one.id for one in outcomes)
    return SuiteRun(outcomes={one.id: one for one in outcomes}, collected=ids, complete=True, canary="held", agree=True)


def test_a_long_list_of_failures_fits_and_says_how_many_are_left_out():
    text = report_text(_run(300), limit=1000)
    assert count_tokens(text) <= 1000
    assert text.startswith("300 failed, 3 passed in 0.0 s\nFAILED t.py::bad000\n")
    assert text.splitlines()[-1].endswith("more")


def test_one_failure_shows_its_message_and_a_green_run_its_totals():
    assert "  AssertionError: assert 1 == 2" in report_text(_run(1), limit=400)
    assert report_text(_run(0), limit=400) == "3 passed in 0.0 s"


def test_a_traceback_that_ends_like_one_before_is_told_once():
    failure = Failure(
        exc_type="NameError", message="x", file="a.py", line=3, in_test=False, text="a.py:3 in f\n    x\nNameError: x"
    )
    run = SuiteRun(
        outcomes={f"t.py::{name}": TestOutcome(id=f"t.py::{name}", outcome="failed", failure=failure) for name in "ab"},
        collected=("t.py::a", "t.py::b"),
        complete=True,
        canary="held",
        agree=True,
    )
    text = failing_text(run, limit=400)
    assert text.count("NameError: x") == 1
    assert text.endswith("FAILED t.py::b (as above)")


def test_a_run_survives_json():
    run = _run(2)
    assert run_of(run_value(run)) == run


def test_the_agents_workspace_is_tested_as_a_snapshot_and_stays_clean(project):
    made = project({"test_a.py": "def test_a():\n    open('dropped', 'w').close()\n    assert 1 == 2\n"})
    made.tree({"test_b.py": "def test_b(): assert 1\n"})
    report = report_for_agent(made.rig(), workspace=made.path, index=made.scratch / "index")
    assert not report.ok and report.summary.startswith("1 failed, 1 passed in")
    assert "FAILED test_a.py::test_a" in report.text and "AssertionError: assert 1 == 2" in report.text
    assert not (made.path / "dropped").exists()
