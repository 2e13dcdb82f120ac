"""Tests of the base that change with the product: what they noticed of wrong versions of it they notice still, or it is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentforge.suite.test_environment import NO_EDITS
from agentforge.verification.counterexamples.mutant_score import MutationBounds
from agentforge.verification.refits.comparison import Refits
from agentforge.verification.refits.measurement import measure_refits

BOX = '''"""A box."""


class Box:
    def __init__(self, owner=""):
        self.owner = owner
        self.items = []

    def add(self, item):
        self.items.append(item)
        return len(self.items)

    def heavy(self, limit=3):
        return len(self.items) > limit
'''
OWNED = BOX.replace("        self.items.append", "        if not self.owner:\n            raise PermissionError(item)\n        self.items.append")  # fmt: skip
FIXTURE = "import pytest\nfrom box import Box\n\n@pytest.fixture\ndef box():\n    return Box()\n"
TESTS = """from box import Box

def test_count(box):
    assert box.add("a") == 1
    assert box.add("b") == 2

def test_heavy(box):
    assert not box.heavy()
    for one in "abc":
        box.add(one)
    assert not box.heavy()
    box.add("d")
    assert box.heavy()
"""
COUNT, HEAVY = "tests/test_box.py::test_count", "tests/test_box.py::test_heavy"
BOUNDS = MutationBounds(most=20, seconds=30.0, seed=1)


@pytest.fixture(scope="module")
def look(project):
    """Measure what the tests of the box notice when their files or the product change."""
    files_of_base = {"box.py": BOX, "tests/conftest.py": FIXTURE, "tests/test_box.py": TESTS}
    made = project(files_of_base)
    rig, base = made.rig(), made.tree()

    def looked(files, *, told="", **kinds):
        tree = made.tree({**files_of_base, "box.py": OWNED, **files})
        refits = Refits(told=told, beside=("tests/test_box.py",), **kinds)
        return measure_refits(rig, refits, base_tree=base, tree=tree, edits=NO_EDITS, bounds=BOUNDS)

    return looked


def _fixture(body: str, before: str = "") -> dict[str, str]:
    return {"tests/conftest.py": FIXTURE.replace("return Box()", body).replace("@pytest", f"{before}@pytest")}


def test_a_fixture_that_gives_the_real_thing_in_another_way_loses_nothing(look):
    fact = look(_fixture("return Box(owner='ann')"), refitted=(COUNT, HEAVY))
    assert fact["measured"] and fact["compared"] == [COUNT, HEAVY] and fact["lost"] == []


FAKE = """class Fake:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)
        return len(self.items)

    def heavy(self):
        return len(self.items) > 3


"""
PROUD = """class Proud(Box):
    count = 0

    def add(self, item):
        assert super().add(item)
        self.count += 1
        return self.count


"""


def test_a_fixture_that_calls_the_product_once_and_gives_a_stand_in_is_told(look):
    fact = look(_fixture("Box('ann').add('x')\n    return Fake()", FAKE), refitted=(COUNT, HEAVY))
    assert {(one["id"], one["function"]) for one in fact["lost"]} >= {(COUNT, "Box.add"), (HEAVY, "Box.heavy")}


def test_a_stand_in_that_calls_everything_and_gives_results_of_its_own_is_told(look):
    fact = look(_fixture("return Proud('ann')", PROUD), refitted=(COUNT,))
    assert [(one["id"], one["function"]) for one in fact["lost"]] == [(COUNT, "Box.add")]


def test_a_fixture_that_swallows_what_the_product_raises_is_told(look):
    quiet = "class Quiet(Box):\n    def add(self, item):\n        try:\n            return super().add(item)\n        except PermissionError:\n            self.items.append(item)\n            return len(self.items)\n\n"
    fact = look(_fixture("return Quiet()", quiet), refitted=(COUNT, HEAVY))
    assert {one["id"] for one in fact["lost"]} == {COUNT, HEAVY}


def test_a_test_that_was_written_anew_may_not_notice_less_than_before(look):
    real = _fixture("return Box('ann')")
    weak = TESTS.replace('assert box.add("b") == 2', 'assert box.add("b")').replace("== 1", "> 0")
    fact = look({**real, "tests/test_box.py": weak}, rewritten=(COUNT,))
    assert [one["id"] for one in fact["lost"]] == [COUNT]
    fact = look({**real, "tests/test_box.py": TESTS.replace("test_heavy", "test_other")}, rewritten=(COUNT,))
    assert fact["compared"] == [COUNT] and fact["lost"] == []


def test_what_one_test_leaves_to_a_new_one_is_not_lost(look):
    split = (
        TESTS.replace('    assert box.add("b") == 2\n', "")
        + "\ndef test_two(box):\n    box.add('a')\n    assert box.add('b') == 2\n"
    )
    fact = look({**_fixture("return Box('ann')"), "tests/test_box.py": split}, rewritten=(COUNT,))
    assert fact["lost"] == []


def test_a_class_that_moved_is_compared_where_it_is_now(look):
    moved = {"box.py": "from boxes import Box\n", "boxes.py": OWNED}
    fixture = _fixture("return Box('ann')")["tests/conftest.py"].replace("from box import", "from boxes import")
    fact = look({**moved, "tests/conftest.py": fixture}, refitted=(COUNT, HEAVY))
    assert fact["compared"] == [COUNT, HEAVY] and fact["lost"] == []


def test_a_function_that_people_name_may_take_the_place_of_another(look):
    put = OWNED + "\n    def put(self, item):\n        self.items.append(item)\n        return len(self.items)\n"
    tests = TESTS.replace("box.add(", "box.put(")
    files = {**_fixture("return Box('ann')"), "box.py": put, "tests/test_box.py": tests}
    assert look(files, told="put takes the place of add", rewritten=(COUNT,))["lost"] == []
    assert [one["function"] for one in look(files, rewritten=(COUNT,))["lost"]] == ["Box.add"]


def test_what_cannot_be_measured_is_told_by_name(project):
    made = project({"box.py": BOX, "tests/conftest.py": FIXTURE, "tests/test_box.py": TESTS})
    rig = made.rig()
    other = replace(rig, plan=replace(rig.plan, runner="cargo", language="rust"))
    fact = measure_refits(
        other, Refits(refitted=(COUNT,)), base_tree=made.tree(), tree=made.tree(), edits=NO_EDITS, bounds=BOUNDS
    )
    assert not fact["measured"] and fact["not_compared"] == [COUNT] and fact["lost"] == []
