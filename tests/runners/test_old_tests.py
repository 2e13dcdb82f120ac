"""What the old text of the base's tests says of a new tree."""

from __future__ import annotations

import pytest

from agentforge.suite import run_tree
from agentforge.suite.test_environment import Edits
from agentforge.verification.stages.existing_tests import broken_under_old_text
from agentforge.verification.stages.green import Promise, measure_green

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


GO = {
    "go.mod": "module example.org/names\n\ngo 1.19\n",
    "names.go": "package names\n\nconst OldName = 1\n\nfunc One() int { return 1 }\n",
    "names_test.go": (
        'package names\n\nimport "testing"\n\n'
        "func TestName(t *testing.T) {\n\tif OldName != 1 {\n\t\tt.Fatal(OldName)\n\t}\n}\n"
    ),
    "one_test.go": (
        'package names\n\nimport "testing"\n\n'
        "func TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal(One())\n\t}\n}\n"
    ),
}


_ROWS = """package names

import "testing"

func TestRows(t *testing.T) {
	for _, row := range []struct {
		name string
		want int
	}{{"of /ü: one", WANT}} {
		t.Run(row.name, func(t *testing.T) {
			if One() != row.want {
				t.Fatal(One())
			}
		})
	}
}
"""


@pytest.mark.needs("go")
@pytest.mark.parametrize("superseded", [(), ("one_test.go::TestRows",)], ids=["not declared", "declared"])
def test_subtests_of_a_declared_function_of_go_are_declared_with_it(project, superseded) -> None:
    made = project({**GO, "one_test.go": _ROWS.replace("WANT", "1")})
    rig, base = made.rig(), made.tree()
    red_tree = made.tree({"one_test.go": _ROWS.replace("WANT", "2")})
    tree = made.tree({"names.go": GO["names.go"].replace("return 1", "return 2")})
    passed = sorted(rig_passed(rig, base))
    assert "one_test.go::TestRows[of_/ü:_one]" in passed
    red = {"tests": [], "frozen_files": {"one_test.go": ""}}
    promise = Promise(red=red, baseline={"passed_ids": passed}, scope=("names.go",), superseded=superseded)
    facts, _ = measure_green(rig, promise, base_tree=base, red_tree=red_tree, tree=tree)
    assert facts["no_regressions"] is bool(superseded), facts["regressions"]


def rig_passed(rig, tree):
    """The ids of the tests that pass on a tree."""
    return run_tree(rig, tree).passed_ids


@pytest.mark.needs("go")
@pytest.mark.parametrize(("one", "broken"), [("return 1", []), ("return 2", ["one_test.go::TestOne"])])
def test_tests_beside_a_file_that_no_longer_compiles_are_heard(project, one: str, broken: list[str]) -> None:
    made = project(GO)
    rig, base = made.rig(), made.tree()
    renamed = {"names_test.go": GO["names_test.go"].replace("OldName", "Name")}
    red_tree = made.tree(renamed)
    tree = made.tree({"names.go": GO["names.go"].replace("OldName", "Name").replace("return 1", one)})
    passed = ["names_test.go::TestName", "one_test.go::TestOne"]
    red = {"tests": [], "frozen_files": {"names_test.go": ""}}
    promise = Promise(
        red=red, baseline={"passed_ids": passed}, scope=("names.go",), superseded=("names_test.go::TestName",)
    )
    facts, _ = measure_green(rig, promise, base_tree=base, red_tree=red_tree, tree=tree)
    assert facts["regressions"] == broken
    changed = ["names.go", "names_test.go"]
    lost = broken_under_old_text(rig, tree, changed=changed, base_tree=base, passed=passed, edits=Edits(files={}))
    assert set(lost or ()) == {"names_test.go::TestName", *broken}
