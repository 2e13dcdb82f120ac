"""GREEN's facts on real repositories: an honest change passes, tricks are findings."""

from __future__ import annotations

import pytest

from agentforge.testing.cache import ResultCache
from agentforge.verification.stages.baseline import measure_baseline
from agentforge.verification.stages.green import Promise, measure_green
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite

BASE = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "tests/test_old.py": "from calc import add\ndef test_add(): assert add(1, 2) == 3\ndef test_known_bad(): assert add(1, 1) == 3\n",
}
NEW = "tests/test_new.py"
RED = "from calc import sub\ndef test_sub(): assert sub(3, 1) == 2\ndef test_sub_below_zero(): assert sub(1, 3) == -2\n"
GOOD = BASE["calc.py"] + "\n\ndef sub(a, b):\n    return a - b\n"
SUB = {
    "name": "sub",
    "file": "calc.py",
    "kind": "function",
    "signature": "def sub(a: int, b: int) -> int",
    "change": "new",
}


@pytest.fixture(scope="module")
def prepared(project):
    """Measure base line and RED; return a function that judges GREEN's files."""
    made = project(BASE)
    rig = made.rig(cache=ResultCache(made.scratch / "cache"))
    base = made.tree()
    _facts, baseline = measure_baseline(rig, tree=base, repeats=2)
    red_tree = made.tree({NEW: RED})
    tests = [{"path": NEW, "name": name, "kind": "target"} for name in ("test_sub", "test_sub_below_zero")]
    red, _ = measure_red(rig, Suite(tests=tests, symbols=[SUB]), base_tree=base, red_tree=red_tree)
    assert red["right_reason"] and red["stub_survivors"] == []

    def judge(files, **options):
        promise = Promise(red=red, baseline=baseline, scope=("calc.py",), **options)
        tree = made.tree(files)
        made.tree({**{name: None for name in files if name not in BASE}, **BASE, NEW: RED})
        return measure_green(rig, promise, base_tree=base, red_tree=red_tree, tree=tree)

    return judge


def test_an_honest_change_passes_and_what_failed_before_is_not_blamed_on_it(prepared):
    facts, evidence = prepared({"calc.py": GOOD})
    assert facts["all_tests_pass"] and facts["no_regressions"]
    assert facts["suite"] == {"passed": 2, "required": 2, "failing": []}
    findings = (
        "regressions",
        "missing",
        "frozen_changed",
        "config_changed",
        "out_of_scope",
        "new_suppressions",
        "flaky",
    )
    assert {name: facts[name] for name in findings} == {name: [] for name in findings}
    assert facts["controls"] == {
        "canary": "held",
        "complete": True,
        "agree": True,
        "timed_out": False,
        "held": True,
        "repeats": 2,
    }
    assert (facts["tests_run"], facts["passed"], len(evidence["repeats"])) == (4, 3, 2)


def test_a_wrong_change_fails_with_a_text_for_its_author(prepared):
    facts, _ = prepared({"calc.py": GOOD.replace("a - b", "abs(a - b)")})
    assert not facts["all_tests_pass"] and facts["no_regressions"]
    assert [one["id"] for one in facts["suite"]["failing"]] == [f"{NEW}::test_sub_below_zero"]
    assert "FAILED tests/test_new.py::test_sub_below_zero" in facts["failing_text"]
    assert "assert 2 == -2" in facts["failing_text"] and "test_known_bad" not in facts["failing_text"]


def test_a_regression_is_named_by_id(prepared):
    facts, _ = prepared({"calc.py": GOOD.replace("a + b", "a - b")})
    assert facts["all_tests_pass"] and not facts["no_regressions"]
    assert facts["regressions"] == ["tests/test_old.py::test_add"]


def test_edited_tests_do_not_count_and_are_findings(prepared):
    bad = GOOD.replace("a - b", "a + b")
    facts, _ = prepared({"calc.py": bad, NEW: RED.replace("== 2", "== 4").replace("== -2", "== 4")})
    assert not facts["all_tests_pass"]
    assert facts["frozen_changed"] == [f"{NEW}::test_sub", f"{NEW}::test_sub_below_zero"]


def test_a_deleted_old_test_is_missing(prepared):
    facts, _ = prepared({"calc.py": GOOD, "tests/test_old.py": None})
    assert not facts["no_regressions"] and facts["missing"] == ["tests/test_old.py::test_add"]
    assert facts["out_of_scope"] == ["tests/test_old.py"]


def test_old_tests_that_stand_under_another_path_are_there(prepared):
    moved = {"calc.py": GOOD, "tests/test_old.py": None, "tests/test_calc.py": BASE["tests/test_old.py"]}
    facts, _ = prepared(moved)
    assert facts["missing"] == [] and facts["no_regressions"]
    broken = {**moved, "calc.py": GOOD.replace("a + b", "a + b + 0.5")}
    assert prepared(broken)[0]["missing"] == ["tests/test_old.py::test_add"]
    weaker = {**moved, "tests/test_calc.py": BASE["tests/test_old.py"].replace("== 3", "> 0")}
    assert prepared(weaker)[0]["missing"] == ["tests/test_old.py::test_add"]


FORCED = "import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call(pyfuncitem): return True\n"


@pytest.mark.parametrize(
    "trick",
    [{"tests/conftest.py": FORCED}, {"conftest.py": FORCED}, {"pytest.ini": "[pytest]\naddopts = --deselect tests/test_new.py\n"},
     {"pyproject.toml": "[tool.pytest.ini_options]\npython_functions = 'test_sub'\n"}, {"pytest.py": "raise SystemExit(0)\n"}],
    ids=["conftest", "root-conftest", "deselect", "renamed", "shadow"],
)  # fmt: skip
def test_runner_configuration_of_the_change_does_not_count_and_is_a_finding(prepared, trick):
    facts, _ = prepared({"calc.py": GOOD.replace("a - b", "a + b"), **trick})
    assert not facts["all_tests_pass"]
    assert facts["config_changed"] == list(trick)


def test_a_configuration_that_the_request_names_counts_and_cannot_force_an_outcome(prepared):
    asked = {"told": "Add sub to calc.py, and a fixture `two` to tests/conftest.py."}
    fixture = "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n"
    facts, _ = prepared({"calc.py": GOOD, "tests/conftest.py": fixture}, **asked)
    assert facts["all_tests_pass"] and facts["no_regressions"]
    assert (facts["config_changed"], facts["config_asked"]) == ([], ["tests/conftest.py"])
    forced, _ = prepared({"calc.py": GOOD.replace("a - b", "a + b"), "tests/conftest.py": FORCED}, **asked)
    assert not forced["all_tests_pass"]


def test_an_honest_change_beside_a_broken_configuration_is_measured_with_that_of_the_base(prepared):
    facts, _ = prepared({"calc.py": GOOD, "tests/conftest.py": "raise RuntimeError\n"})
    assert facts["all_tests_pass"] and facts["no_regressions"] and facts["config_changed"] == ["tests/conftest.py"]


def test_product_code_that_edits_the_tests_gets_nothing_from_it(prepared):
    edit = "import pathlib\ntry: pathlib.Path('tests/test_new.py').write_text('def test_sub(): pass\\ndef test_sub_below_zero(): pass\\n')\nexcept OSError: pathlib = None\n"
    facts, _ = prepared({"calc.py": edit + GOOD.replace("a - b", "a + b")})
    assert not facts["all_tests_pass"]


def test_new_suppressions_are_listed_and_skipping_product_code_passes_nothing(prepared):
    facts, _ = prepared(
        {"calc.py": GOOD.replace("return a - b", "import pytest\n    pytest.skip('later')  # noqa: E501")}
    )
    assert not facts["all_tests_pass"]
    assert [one["line"] for one in facts["new_suppressions"]] == [7]


def test_a_flaky_new_test_does_not_pass(project):
    made = project(BASE)
    rig = made.rig()
    base = made.tree()
    flaky = "import os\nfrom calc import add\ndef test_f(): assert int(os.environ['PYTHONHASHSEED']) % 2 == 0\n"
    red_tree = made.tree({NEW: flaky})
    red = {"tests": [{"id": f"{NEW}::test_f"}], "frozen": {}, "frozen_files": {}}
    promise = Promise(red=red, baseline={"passed_ids": []}, repeats=2, scope=(NEW,))
    facts, _ = measure_green(rig, promise, base_tree=base, red_tree=red_tree, tree=red_tree)
    assert facts["flaky"] == [f"{NEW}::test_f"] and not facts["all_tests_pass"]


def test_rows_that_only_got_another_id_are_not_missing_and_those_that_the_specification_ends_are_named(project):
    def suite(rows):
        return f"import pytest\nfrom calc import unit\n@pytest.mark.parametrize('n, text', {rows})\ndef test_unit(n, text): assert unit(n) == text\n"

    made = project({
        "calc.py": "def unit(n): return 'many' if n > 9 else 'few'\n",
        "tests/test_unit.py": suite([(20, "many"), (1, "few")]),
    })  # fmt: skip
    rig, base = made.rig(), made.tree()
    _, baseline = measure_baseline(rig, tree=base, repeats=1)
    red_tree = made.tree({"tests/test_unit.py": suite([(1, "few"), (20, "a lot")])})
    tests = [{"path": "tests/test_unit.py", "name": "test_unit", "kind": ""}]
    symbol = {"name": "unit", "file": "calc.py", "kind": "function", "signature": "unit(n)", "change": "changed"}
    red, _ = measure_red(rig, Suite(tests=tests, symbols=[symbol], action="modify"), base_tree=base, red_tree=red_tree)
    tree = made.tree({"calc.py": "def unit(n): return 'a lot' if n > 9 else 'few'\n"})

    def judged(*superseded):
        promise = Promise(red=red, baseline=baseline, scope=("calc.py",), superseded=superseded)
        return measure_green(rig, promise, base_tree=base, red_tree=red_tree, tree=tree)[0]

    refused = judged()
    assert refused["missing"] == ["tests/test_unit.py::test_unit[20-many]"] and not refused["no_regressions"]
    allowed = judged("tests/test_unit.py::test_unit")
    assert allowed["missing"] == [] and allowed["no_regressions"]
    assert allowed["superseded"] == ["tests/test_unit.py::test_unit[20-many]"]


def test_a_test_that_red_could_not_load_is_required_with_each_of_its_rows(project):
    made = project(BASE)
    rows = "import pytest\nfrom calc import sub\n\n@pytest.mark.parametrize('given', [2, 3])\ndef test_sub(given): assert sub(given, 1) == given - 1\n"
    red = {"tests": [{"id": f"{NEW}::test_sub", "kind": "target"}], "frozen_files": {NEW: ""}}
    base, red_tree = made.tree(), made.tree({NEW: rows})
    for code, failing in ((GOOD, []), (GOOD.replace("a - b", "1"), [f"{NEW}::test_sub"])):
        promise = Promise(red=red, baseline={"passed_ids": []}, scope=("calc.py",))
        facts, _ = measure_green(
            made.rig(), promise, base_tree=base, red_tree=red_tree, tree=made.tree({"calc.py": code, NEW: rows})
        )
        assert [one["id"] for one in facts["suite"]["failing"]] == failing


_BY_CHANCE = (
    "import random\n\nimport pytest\n\nfrom calc import add\n\n"
    "@pytest.mark.parametrize('one', [random.random() for _ in range(3)])\n"
    "def test_any(one): assert add(one, 0) == one\n\n\ndef test_fixed(): assert add(1, 1) == 2\n"
)


@pytest.mark.parametrize(
    ("body", "regressions", "missing"),
    [("a + b", 0, 0), ("a + b + 1 if a < 1 else a + b", 3, 0)],
    ids=["honest", "broken where names are made by chance"],
)
def test_tests_that_are_called_by_chance_are_not_missing_and_still_tell_what_breaks(
    project, body, regressions, missing
):
    made = project({"calc.py": BASE["calc.py"], "tests/test_any.py": _BY_CHANCE})
    rig, base = made.rig(), made.tree()
    _, baseline = measure_baseline(rig, tree=base)
    tree = made.tree({"calc.py": f"def add(a, b):\n    return {body}\n"})
    promise = Promise(red={"tests": []}, baseline=baseline, scope=("calc.py",), inspected=True)
    facts, _ = measure_green(rig, promise, base_tree=base, red_tree=base, tree=tree)
    assert (len(facts["regressions"]), len(facts["missing"])) == (regressions, missing), facts
    assert facts["no_regressions"] is not bool(regressions)


def test_a_test_that_the_change_keeps_from_being_seen_is_missing_though_others_are_called_by_chance(project):
    made = project({"calc.py": BASE["calc.py"], "tests/test_any.py": _BY_CHANCE})
    rig, base = made.rig(), made.tree()
    _, baseline = measure_baseline(rig, tree=base)
    tree = made.tree({"tests/test_any.py": _BY_CHANCE.replace("def test_fixed", "def fixed")})
    promise = Promise(red={"tests": []}, baseline=baseline, scope=("calc.py", "tests/"), inspected=True)
    facts, _ = measure_green(rig, promise, base_tree=base, red_tree=base, tree=tree)
    assert facts["missing"] == ["tests/test_any.py::test_fixed"] and not facts["no_regressions"]
