"""Tests whose file gets another path: what they show is not RED's business, and they need not notice a stub."""

from __future__ import annotations

from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite

TEST = "def test_sizes():\n    assert sizes() is not None\n"
BASE = {
    "shop/__init__.py": "",
    "shop/start.py": "def sizes():\n    return {'small': (1, 2)}\n",
    "tests/test_start.py": f"from shop.start import sizes\n\n\n{TEST}",
}
BEGIN = {"name": "sizes", "file": "shop/begin.py", "kind": "function", "signature": "sizes() -> dict", "change": "new"}
MOVED = "tests/test_begin.py"


def test_a_test_whose_file_got_another_path_need_not_notice_a_stub_and_a_new_one_beside_it_must(project):
    made = project(BASE)
    base = made.tree()
    code = f"from shop.begin import sizes\n\n\n{TEST}\n\n{TEST.replace('test_sizes', 'test_written_now')}"
    red = made.tree({"tests/test_start.py": None, MOVED: code})
    listed = [{"path": MOVED, "name": name, "kind": "target"} for name in ("test_sizes", "test_written_now")]
    suite = Suite(tests=listed, symbols=[BEGIN], action="refactor", superseded=("tests/test_start.py::test_sizes",))
    facts, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=red)
    assert {one["kind"] for one in facts["tests"]} == {"target"}, facts["tests"]
    survivors = {row["id"] for row in facts["stub_survivors"]}
    assert survivors == {f"{MOVED}::test_written_now"}, facts


def test_a_test_that_was_changed_on_its_way_to_another_path_has_to_notice_stubs(project):
    made = project(BASE)
    base = made.tree()
    changed = TEST.replace("is not None", "!= None")
    red = made.tree({"tests/test_start.py": None, MOVED: f"from shop.begin import sizes\n\n\n{changed}"})
    listed = [{"path": MOVED, "name": "test_sizes", "kind": "target"}]
    suite = Suite(tests=listed, symbols=[BEGIN], action="refactor", superseded=("tests/test_start.py::test_sizes",))
    facts, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=red)
    assert {row["id"] for row in facts["stub_survivors"]} == {f"{MOVED}::test_sizes"}, facts
