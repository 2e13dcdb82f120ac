"""The base line: what fails before anything is written, and a suite that cannot be run."""

from __future__ import annotations

from dataclasses import replace

from agentforge.runners.cache import ResultCache
from agentforge.runners.measure_baseline import measure_baseline


def test_failing_flaky_and_uncollectable_tests_are_known_by_id(project):
    flaky = "import sys\ndef test_flaky(): assert 'other' not in sys.modules\n"
    made = project(
        {"tests/other.py": "", "tests/test_a.py": "def test_ok(): assert 1\ndef test_bad(): assert 0\n",
         "tests/test_a2.py": "import other\n", "tests/test_b.py": flaky, "tests/test_c.py": "import nowhere\n"}
    )  # fmt: skip
    facts, evidence = measure_baseline(made.rig(), tree=made.tree())
    assert (facts["tests"], facts["passed"], facts["failing"]) == (3, 1, ["tests/test_a.py::test_bad"])
    assert facts["flaky"] == evidence["flaky_ids"] == ["tests/test_b.py::test_flaky"]
    assert facts["collection_errors"] == ["tests/test_c.py"] and facts["canary"] == "held" and facts["measured"]
    assert evidence["passed_ids"] == ["tests/test_a.py::test_ok"]


def test_a_green_suite_runs_once_and_the_second_time_from_the_cache(project):
    made = project({"tests/test_a.py": "def test_ok(): assert 1\n"})
    rig = made.rig(cache=ResultCache(made.scratch / "cache"))
    tree = made.tree()
    first = measure_baseline(rig, tree=tree)
    assert first[0]["failing"] == [] and len(list((made.scratch / "cache").rglob("*.json"))) == 1
    assert measure_baseline(rig, tree=tree) == first
    assert not list(made.scratch.glob("checkout-*")) and not list(made.scratch.glob("run-*"))


def test_a_suite_that_cannot_be_started_is_a_fact_with_its_reason(project):
    made = project({"tests/test_a.py": "def test_ok(): assert 1\n"})
    rig = made.rig()
    broken = replace(rig, plan=replace(rig.plan, problems=("python has no pytest; install it: pip install pytest",)))
    facts, _ = measure_baseline(broken, tree=made.tree())
    assert facts["problems"] == ["python has no pytest; install it: pip install pytest"] and not facts["measured"]
