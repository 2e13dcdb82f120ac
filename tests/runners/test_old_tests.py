"""What the old text of the base's tests says of a new tree."""

from __future__ import annotations

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
