"""What the tests of a change execute of it: honest changes and the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentforge.runners.measure_strength import Change, measure_strength
from agentforge.runners.mutant_score import Bounds
from agentforge.runners.traced import bits_of

BASE = {
    "kit.py": "def old(a):\n    return a\n",
    "tests/test_kit.py": "import pytest\nimport kit\n\n\ndef test_old():\n    pass\n",
}
BOTH = """def old(a):
    return a


def first(a):
    return a + 1


def second(a):
    if a > 100:
        raise ValueError(a)
    if a > 50:
        return first(a) * 2
    return a + 2
"""
TESTS = """import kit


def test_first():
    assert kit.first(1) == 2


def test_second():
    assert kit.second(1) == 3


def test_lies():
    assert kit.first(2) == 3


def test_nothing():
    assert len("ab") == 2
"""
IDS = [f"tests/test_new.py::test_{name}" for name in ("first", "second", "lies", "nothing")]
Measure = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def measure(project: Callable[..., Any]) -> Measure:
    made = project(BASE)
    base = made.tree({})

    def run(source: str, lines: str, **changes: Any) -> dict[str, Any]:
        tree = made.tree({"kit.py": source, "tests/test_new.py": TESTS})
        wanted = {
            "lines": {"kit.py": bits_of(lines.split(","))},
            "tests": [{"id": one, "kind": "target"} for one in IDS],
            "frozen": ("tests/test_new.py",),
            "declared": frozenset({"first", "second"}),
            **changes,
        }
        facts, _ = measure_strength(
            made.rig(), Change(**wanted), base_tree=base, red_tree=tree, tree=tree, bounds=Bounds(most=0)
        )
        assert facts["mutation"]["measured"] is False
        return facts["coverage"]  # type: ignore[no-any-return]  # JSON

    return run


def test_each_requirement_is_tied_to_the_lines_that_its_tests_execute(measure: Measure) -> None:
    named = {"REQ-002": [("kit.py", "second")]}
    requirements = {"REQ-001": [IDS[0]], "REQ-002": [IDS[2]], "REQ-003": [IDS[3]], "REQ-004": [IDS[1]]}
    rows = measure(BOTH, "5-14", requirements=requirements, named=named)["requirements"]
    assert {row["id"]: row["touches"] for row in rows} == {
        "REQ-001": True,
        "REQ-002": False,  # its test runs something, but not the function that it is about
        "REQ-003": False,
        "REQ-004": True,
    }
    assert rows[0]["tests"] == [{"id": IDS[0], "changes": [{"path": "kit.py", "lines": "6"}]}]


@pytest.mark.parametrize(
    "change",
    [
        {"other": ("data.json",)},
        {"deleted": ("gone.py",)},
        {"tests": [{"id": one, "kind": "guard"} for one in IDS]},
        {"shrunk": frozenset({"kit.py"})},
    ],
)
def test_a_change_that_no_tracer_sees_is_no_finding(measure: Measure, change: dict[str, Any]) -> None:
    (row,) = measure(BOTH, "5-14", requirements={"REQ-001": [IDS[3]]}, **change)["requirements"]
    assert row["touches"] is True
    assert row["note"]


def test_untested_lines_are_told_apart(measure: Measure) -> None:
    extra = BOTH + "\n\ndef wipe(path):\n    import os\n\n    os.unlink(path)\n"
    coverage = measure(extra, "5-20")
    told = [(row["function"], row["lines"], row["inert"], row["extra"]) for row in coverage["untested"]]
    assert told == [("second", "11", True, False), ("second", "13", False, False), ("wipe", "18,20", False, True)]


def test_moved_code_is_not_untested_behaviour(measure: Measure) -> None:
    moved = "def helper(a):\n    return a\n\n\ndef first(a):\n    return a + 1\n\n\ndef second(a):\n    return a + 2\n"
    assert measure(moved, "1,5-10")["untested"] == []


def test_a_change_that_takes_the_recorder_away_is_told(measure: Measure) -> None:
    blinding = BOTH + "\n\nimport sys\n\nsys.settrace(None)\n"
    coverage = measure(blinding, "5-18")
    assert coverage["lost"] == "the import of the test files"
    assert not measure(BOTH, "5-14")["lost"]
