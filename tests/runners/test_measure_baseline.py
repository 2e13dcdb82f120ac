"""The base line: what fails before anything is written, and a suite that cannot be run."""

from __future__ import annotations

from dataclasses import replace

from agentforge.testing.cache import ResultCache
from agentforge.verification.stages.baseline import measure_baseline


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


def test_one_cause_is_told_once_with_its_files_and_what_declares_the_module(project):
    files = {f"tests/test_{n}.py": f"import no_yaml\ndef test_{n}(): assert 1\n" for n in range(4)}
    declared = {
        "pyproject.toml": "[tool.pytest.ini_options]\n[project]\nname='x'\n[project.optional-dependencies]\nyaml = ['py-no-yaml>1']\n"
    }
    more = {
        "tests/test_own.py": "from tests.gone import x\n",
        "tests/__init__.py": "",
        "tests/test_ok.py": "def test_ok(): assert 1\n",
    }
    made = project({**files, **declared, **more})
    facts, _ = measure_baseline(made.rig(), tree=made.tree())
    first, own = facts["causes"]
    assert (first["text"], first["about"], first["file_count"]) == ("the module no_yaml is missing", "environment", 4)
    assert first["remedy"].endswith("-m pip install -e '.[yaml]'") and "tests.gone" in own["text"]
    assert (facts["measured"], facts["blind"], facts["outcomes"]) == (True, True, {"passed": 1})


def test_tests_written_before_their_code_are_no_broken_base_line(project):
    made = project({"calc.py": "", "tests/test_a.py": "from calc import add\ndef test_a(): assert add(1, 1) == 2\n"})
    facts, _ = measure_baseline(made.rig(), tree=made.tree())
    assert facts["collection_errors"] == ["tests/test_a.py"] and facts["blind"] is False


def test_files_with_tests_of_which_none_is_collected_are_no_base_line(project):
    made = project({"tests.py": "def test_a():\n    assert True\n", "pytest.ini": "[pytest]\n"})
    facts, _ = measure_baseline(made.rig(), tree=made.tree())
    assert facts["tests"] == 0 and facts["blind"] is True
    assert facts["causes"][0]["files"] == ["tests.py"] and "[test] paths" in facts["causes"][0]["remedy"]


def test_a_class_whose_set_up_skips_or_breaks_gives_its_tests_that_outcome(project):
    text = (
        "import unittest\n"
        "class Skips(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): raise unittest.SkipTest('no server')\n"
        "    def test_a(self): pass\n    def test_b(self): pass\n"
        "class Breaks(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): raise ConnectionRefusedError('Connection refused')\n"
        "    def test_c(self): pass\n"
        "class Runs(unittest.TestCase):\n    @unittest.skip('later')\n    def test_d(self): pass\n    def test_e(self): self.assertTrue(1)\n"
    )
    made = project({"tests/test_u.py": text, "tests/__init__.py": ""})
    facts, evidence = measure_baseline(made.rig(), tree=made.tree())
    short = {name.rpartition("::")[2]: outcome for name, outcome in evidence["outcomes"].items()}
    assert short == {
        "test_a": "skipped",
        "test_b": "skipped",
        "test_c": "error",
        "test_d": "skipped",
        "test_e": "passed",
    }
    assert facts["measured"] and facts["causes"][0]["text"] == "a service or the network cannot be reached"


def test_tests_are_counted_without_being_run(project):
    from agentforge.suite.test_counts import count_tests

    made = project({"tests/test_a.py": "import pytest\n@pytest.mark.parametrize('n', [1, 2])\ndef test_a(n): open('/ran', 'w')\n",
                    "tests/test_b.py": "import no_such\n"})  # fmt: skip
    counted = count_tests(made.rig(), tree=made.tree())
    assert counted.text == "2 tests in 1 file" and counted.causes[0].files == ("tests/test_b.py",)
    unit = project(
        {"tests/test_a.py": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): raise SystemExit\n"}
    )
    assert count_tests(unit.rig(), tree=unit.tree()).text == "1 test in 1 file"
