"""A fixture that the specification changes: who asks for it runs with its new text, and nobody else does."""

from __future__ import annotations

import pytest

from agentforge.verification.stages.baseline import measure_baseline
from agentforge.verification.stages.changed_fixtures import (
    TestTree as TestFiles,
    tests_with_changed_fixtures as with_changed_fixtures,
)
from agentforge.verification.stages.green import Promise, measure_green
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite

DOOR = "def enter(key): return 'in'\ndef close(): return 'closed'\n"
LOCKED = "def enter(key): return 'in' if key == 'right' else 'out'\ndef close(): return 'closed'\n"
OLD = "import pytest\nimport door\n\n@pytest.fixture\ndef key():\n    return ''\n\n@pytest.fixture\ndef inside(key):\n    return door.enter(key)\n"
NEW = OLD.replace("import door", "import door\n\nKEYS = ['right']").replace("''", "KEYS[0]")
TESTS = "import door\ndef test_in(inside): assert inside == 'in'\ndef test_close(): assert door.close() == 'closed'\n"
ADDED = "import door\ndef test_locked(): assert door.enter('wrong') == 'out'\n"
DECLARED = "tests/conftest.py::key"
IN, CLOSE = "tests/test_door.py::test_in", "tests/test_door.py::test_close"


@pytest.fixture(scope="module")
def judge(project):
    """Judge a change of the door whose RED changed the fixtures too."""
    made = project({"door.py": DOOR, "tests/conftest.py": OLD, "tests/test_door.py": TESTS})
    rig, base = made.rig(), made.tree()
    _, baseline = measure_baseline(rig, tree=base, repeats=1)

    def judged(door, *superseded):
        red_tree = made.tree({"door.py": DOOR, "tests/conftest.py": NEW, "tests/test_new.py": ADDED})
        symbol = {
            "name": "enter",
            "file": "door.py",
            "kind": "function",
            "signature": "enter(key)",
            "change": "changed",
        }
        tests = [{"path": "tests/test_new.py", "name": "test_locked", "kind": "target"}]
        suite = Suite(tests=tests, symbols=[symbol], action="modify", superseded=superseded)
        red, _ = measure_red(rig, suite, base_tree=base, red_tree=red_tree)
        promise = Promise(red=red, baseline=baseline, scope=("door.py",), superseded=superseded)
        return measure_green(rig, promise, base_tree=base, red_tree=red_tree, tree=made.tree({"door.py": door}))[0]

    return judged


def test_a_test_runs_with_the_new_text_of_a_fixture_that_the_specification_changes(judge):
    facts = judge(LOCKED, DECLARED)
    assert facts["no_regressions"] and facts["regressions"] == []
    assert facts["refitted"] == [IN]


def test_a_fixture_of_which_the_specification_says_nothing_hides_nothing(judge):
    facts = judge(LOCKED)
    assert facts["regressions"] == facts["under_old_text"] == [IN] and not facts["no_regressions"]
    (row,) = facts["belongs_to"]  # whether the request changes it is for the specification to say
    assert (row["stage"], row["rule"], row["path"]) == ("spec", "no-regressions", "tests/test_door.py")
    assert "test_in" in row["message"] and "test_close" not in row["message"]


def test_what_is_broken_besides_is_no_matter_of_the_specification(judge):
    facts = judge(LOCKED.replace("'closed'", "'open'"))
    assert facts["regressions"] == [CLOSE, IN] and facts["belongs_to"] == []
    assert judge(LOCKED.replace("'out'", "'on'"))["belongs_to"] == []  # the new test fails: GREEN is not done
    assert judge(LOCKED, DECLARED)["belongs_to"] == []


def test_a_test_that_does_not_ask_for_it_is_held_to_the_old_text(judge):
    facts = judge(LOCKED.replace("'closed'", "'open'"), DECLARED)
    assert facts["regressions"] == [CLOSE] and facts["under_old_text"] == [] and not facts["no_regressions"]


def test_what_else_changed_in_the_files_of_tests_does_not_come_with_the_fixture(project):
    tests = TESTS.replace("import door\n", "import door\nfrom words import IN\n").replace(
        "inside == 'in'", "inside == IN"
    )
    base_files = {
        "door.py": DOOR,
        "tests/conftest.py": OLD,
        "tests/words.py": "IN = 'in'\n",
        "tests/test_door.py": tests,
    }
    made = project(base_files)
    rig, base = made.rig(), made.tree()
    _, baseline = measure_baseline(rig, tree=base, repeats=1)
    red = {"tests": [], "frozen_files": {"tests/conftest.py": "", "tests/words.py": ""}}
    promise = Promise(red=red, baseline=baseline, scope=("door.py",), superseded=(DECLARED,), inspected=True)
    for word, regressions in (("in", []), ("inn", [IN])):
        changed = {
            "door.py": LOCKED.replace("'in'", f"'{word}'"),
            "tests/conftest.py": NEW,
            "tests/words.py": f"IN = '{word}'\nOUT = 1\n",
        }
        tree = made.tree(changed)
        facts, _ = measure_green(rig, promise, base_tree=base, red_tree=tree, tree=tree)
        assert facts["regressions"] == regressions


def _fitted(new: str, *, declared: str = DECLARED) -> frozenset[str]:
    before = {"tests/conftest.py": OLD, "tests/test_door.py": TESTS}
    return with_changed_fixtures(
        [IN, CLOSE],
        superseded=[declared],
        before=lambda path: before[path].encode() if path in before else None,
        after=TestFiles(read=lambda path: {**before, "tests/conftest.py": new}.get(path, "").encode()),
    )


@pytest.mark.parametrize(
    "new",
    [
        NEW,
        NEW.replace("import pytest", "import json\nimport pytest"),
        NEW + "\n@pytest.fixture\ndef other():\n    return 1\n",
        NEW + "\ndef _helps():\n    return 1\n",
    ],
)
def test_additions_that_somebody_has_to_ask_for_are_fine(new):
    assert _fitted(new) == {IN}


@pytest.mark.parametrize(
    "new",
    [
        NEW.replace("door.enter(key)", "'in'"),
        NEW.replace("import door\n", ""),
        NEW + "\ndef inside(key):\n    return 'in'\n",
        NEW + "\ndef key():\n    return 'right'\n",
        NEW + "\n@pytest.fixture(autouse=True)\ndef other():\n    door.close = lambda: 'closed'\n",
        NEW + "\ndef pytest_runtest_makereport(item, call):\n    return None\n",
        NEW + "\ndoor.close = lambda: 'closed'\n",
        NEW + "\nX = setattr(door, 'close', None)\n",
        NEW + "\nclass Door:\n    door.close = None\n",
        NEW + "\n@door.close\ndef other():\n    return 1\n",
        NEW.replace("@pytest.fixture\ndef key", "@pytest.fixture(autouse=True)\ndef key"),
        NEW.replace("@pytest.fixture\ndef key", "def key"),
    ],
)
def test_a_file_in_which_more_changed_excuses_nobody(new):
    assert _fitted(new) == frozenset()


@pytest.mark.parametrize(
    ("text", "fitted"),
    [
        ("door.enter('right')", {IN}),
        ("_in()\n\ndef _in():\n    return door.enter('right')", {IN}),
        ("'in'", set()),
        ("_in()\n\ndef _in():\n    return 'in'", set()),
    ],
)
def test_a_fixture_that_uses_less_than_it_did_excuses_nobody(text, fitted):
    assert _fitted(OLD.replace("door.enter(key)", text), declared="tests/conftest.py::inside") == fitted


def test_a_fixture_is_asked_for_by_name_by_a_mark_or_through_another_and_the_nearest_counts():
    marked = "import pytest\n@pytest.mark.usefixtures('inside')\nclass TestDoor:\n    def test_it(self): pass\n"
    own = "import pytest\n@pytest.fixture\ndef key(): return 'mine'\ndef test_in(key): assert key\n"
    read = {"tests/conftest.py": OLD, "tests/test_door.py": marked, "tests/test_own.py": own}
    found = with_changed_fixtures(
        ["tests/test_door.py::TestDoor::test_it[1]", "tests/test_own.py::test_in"],
        superseded=[DECLARED],
        before=lambda path: read.get(path, "").encode(),
        after=TestFiles(read=lambda path: {**read, "tests/conftest.py": NEW}.get(path, "").encode()),
    )
    assert found == {"tests/test_door.py::TestDoor::test_it[1]"}


CALLING = """import door

def test_in():
    assert door.enter('') == 'in'

def test_close():
    assert door.close() == 'closed'

def test_in_after_closing():
    door.close()
    test_in()

class TestDoor:
    def test_way(self):
        assert door.enter('') == 'in'

    def test_again(self):
        self.test_way()
"""


@pytest.mark.parametrize(
    ("declared", "new", "fitted"),
    [
        ("test_in", CALLING.replace("''", "'right'", 1), ["test_in_after_closing"]),
        ("TestDoor::test_way", CALLING.replace("(self):\n        assert door.enter('')", "(self):\n        assert door.enter('x')"), ["TestDoor::test_again"]),
        ("test_in", CALLING.replace("''", "'right'", 1).replace("'closed'", "'shut'"), []),
        ("test_in", CALLING.replace("    assert door.enter('') == 'in'", "    pass", 1), []),
        ("test_close", CALLING.replace("'closed'", "'shut'"), []),
    ],
)  # fmt: skip
def test_a_test_that_calls_a_test_which_the_specification_changes_runs_with_its_new_text(declared, new, fitted):
    ids = ["test_in", "test_close", "test_in_after_closing", "TestDoor::test_way", "TestDoor::test_again"]
    assert with_changed_fixtures(
        [f"test_door.py::{one}" for one in ids],
        superseded=[f"test_door.py::{declared}"],
        before=lambda path: CALLING.encode() if path == "test_door.py" else None,
        after=TestFiles(read=lambda path: new.encode() if path == "test_door.py" else None),
    ) == {f"test_door.py::{one}" for one in fitted}


def test_such_a_test_is_no_regression_of_the_code(project):
    made = project({"door.py": DOOR, "tests/test_door.py": CALLING})
    rig, base = made.rig(), made.tree()
    _, baseline = measure_baseline(rig, tree=base, repeats=1)
    declared = tuple(f"tests/test_door.py::{one}" for one in ("test_in", "TestDoor::test_way"))
    red_tree = made.tree({"door.py": DOOR, "tests/test_door.py": CALLING.replace("''", "'right'")})
    symbol = {"name": "enter", "file": "door.py", "kind": "function", "signature": "enter(key)", "change": "changed"}
    tests = [{"path": "tests/test_door.py", "name": "test_in", "kind": "guard"}]
    red, _ = measure_red(
        rig,
        Suite(tests=tests, symbols=[symbol], action="modify", superseded=declared),
        base_tree=base,
        red_tree=red_tree,
    )
    promise = Promise(red=red, baseline=baseline, scope=("door.py",), superseded=declared)
    tree = made.tree({"door.py": LOCKED})
    facts = measure_green(rig, promise, base_tree=base, red_tree=red_tree, tree=tree)[0]
    assert facts["no_regressions"] and facts["belongs_to"] == []
    assert facts["refitted"] == [
        "tests/test_door.py::TestDoor::test_again",
        "tests/test_door.py::test_in_after_closing",
    ]


UNIT = """import unittest
import door

class Base(unittest.TestCase):
    KIND = 'wood'

    def setUp(self):
        self.key = ''

class TestDoor(Base):
    def test_in(self):
        self.assertEqual(door.enter(self.key), 'in')

class TestOther(unittest.TestCase):
    def test_close(self):
        self.assertEqual(door.close(), 'closed')
"""
UNIT_IN, UNIT_CLOSE = "test_unit.py::TestDoor::test_in", "test_unit.py::TestOther::test_close"


def _fitted_unit(new: str, *declared: str) -> frozenset[str]:
    return with_changed_fixtures(
        [UNIT_IN, UNIT_CLOSE],
        superseded=[f"test_unit.py::{one}" for one in declared or ("Base::setUp",)],
        before=lambda path: UNIT.encode() if path == "test_unit.py" else None,
        after=TestFiles(read=lambda path: new.encode() if path == "test_unit.py" else None),
    )


NEW_UNIT = UNIT.replace("self.key = ''", "self.key = 'right'")


@pytest.mark.parametrize(
    "new",
    [
        NEW_UNIT,
        NEW_UNIT + "\n    @unittest.skipIf(False, '')\n    def test_more(self):\n        self.assertTrue(door)\n",
        NEW_UNIT
        + "\nclass TestNew(unittest.TestCase):\n    LIMIT = 3\n\n    def setUp(self):\n        self.a = 1\n\n    def test_a(self):\n        pass\n",
    ],
)
def test_what_runs_around_the_tests_of_a_class_is_their_fixture(new):
    assert _fitted_unit(new) == {UNIT_IN}


def test_a_test_of_the_file_that_the_specification_changes_excuses_no_less():
    new = NEW_UNIT.replace("'closed'", "'shut'")
    assert _fitted_unit(new) == frozenset()
    assert _fitted_unit(new, "Base::setUp", "TestOther::test_close") == {UNIT_IN}


@pytest.mark.parametrize(
    "new",
    [
        NEW_UNIT.replace("KIND = 'wood'", "KIND = 'iron'"),
        NEW_UNIT.replace("class TestOther(unittest.TestCase):", "class TestOther(unittest.TestCase):\n    def setUp(self):\n        door.close = lambda: 'closed'\n"),
        NEW_UNIT + "\ndef setUpModule():\n    door.close = lambda: 'closed'\n",
        NEW_UNIT + "\nclass TestNew(unittest.TestCase):\n    door.close = None\n",
        NEW_UNIT + "\n@door.close\ndef test_new():\n    pass\n",
        NEW_UNIT.replace("class Base(unittest.TestCase)", "class Base(Quiet)"),
    ],
)  # fmt: skip
def test_a_class_in_which_more_changed_excuses_nobody(new):
    assert _fitted_unit(new) == frozenset()


def test_a_test_that_a_class_inherits_runs_with_what_its_own_class_does_before_it():
    inherited = UNIT.replace(
        "class TestDoor(Base):",
        "class TestIron(Base):\n    def setUp(self):\n        self.key = ''\n\nclass TestDoor(Base):",
    )
    asked = ["test_unit.py::TestIron::test_in", UNIT_IN]
    text = inherited.replace("class TestIron(Base)", "class TestIron(TestDoor)")
    found = with_changed_fixtures(
        asked,
        superseded=["test_unit.py::TestIron::setUp"],
        before=lambda path: text.encode() if path == "test_unit.py" else None,
        after=TestFiles(read=lambda path: text.replace("self.key = ''\n\nclass TestDoor", "self.key = 'right'\n\nclass TestDoor").encode() if path == "test_unit.py" else None),
    )  # fmt: skip
    assert found == {"test_unit.py::TestIron::test_in"}
