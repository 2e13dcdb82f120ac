"""What the tests of a change execute of it: honest changes and the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentforge.testing.coverage import bits_of
from agentforge.verification.counterexamples.mutant_score import MutationBounds
from agentforge.verification.stages.change import Change
from agentforge.verification.stages.strength import measure_strength

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
            made.rig(), Change(**wanted), base_tree=base, red_tree=tree, tree=tree, bounds=MutationBounds(most=0)
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


def test_a_benchmark_that_no_test_loads_is_no_untested_behaviour_and_a_module_is(project: Callable[..., Any]) -> None:
    made = project(BASE)
    base = made.tree({})
    timed = "import kit\n\n\ndef run():\n    return kit.first(1)\n"
    tree = made.tree({"kit.py": BOTH, "tests/test_new.py": TESTS, "benchmark/edges.py": timed, "more/edges.py": timed})
    lines = {path: bits_of(["1-5"]) for path in ("benchmark/edges.py", "more/edges.py")}
    change = Change(lines=lines, tests=[{"id": one, "kind": "target"} for one in IDS], frozen=("tests/test_new.py",))
    facts, _ = measure_strength(
        made.rig(), change, base_tree=base, red_tree=tree, tree=tree, bounds=MutationBounds(most=0)
    )
    told = {row["path"] for row in facts["coverage"]["untested"] if not row["inert"]}
    assert told == {"more/edges.py"}


def test_moved_code_is_not_untested_behaviour(measure: Measure) -> None:
    moved = "def helper(a):\n    return a\n\n\ndef first(a):\n    return a + 1\n\n\ndef second(a):\n    return a + 2\n"
    assert measure(moved, "1,5-10")["untested"] == []


MOVED = {
    "elsewhere": ({"kit.py": "X = 1\n", "new.py": "def old(a):\n    return a + 1 if a > 3 else a\n"}, "kit.py", "new.py", "1-2"),
    "deeper": ({"kit.py": "def old(a):\n    if a:\n        if True:\n            return a + 1 if a > 3 else a\n"}, "", "kit.py", "2-4"),
}  # fmt: skip


@pytest.mark.parametrize("how", MOVED)
def test_moved_code_has_no_mutants(project: Callable[..., Any], how: str) -> None:
    files, shrunk, path, lines = MOVED[how]
    made = project({**BASE, "kit.py": "X = 1\n\n\ndef old(a):\n    return a + 1 if a > 3 else a\n"})
    base = made.tree({})
    tests = f"import {path[:-3]} as kit\n\n\ndef test_old():\n    assert kit.old(1) == 1\n"
    tree = made.tree({**files, "tests/test_new.py": tests, "tests/test_kit.py": None})
    change = Change(
        lines={path: bits_of([lines])}, shrunk=frozenset({shrunk} - {""}), frozen=("tests/test_new.py",),
        tests=[{"id": "tests/test_new.py::test_old", "kind": "target"}],
    )  # fmt: skip
    facts, _ = measure_strength(made.rig(), change, base_tree=base, red_tree=tree, tree=tree, bounds=MutationBounds())
    made_of = {row["line"] for row in facts["mutation"]["survivors"]}
    assert facts["mutation"]["possible"] == (0 if how == "elsewhere" else 3)  # of the two `if`, which are new
    assert made_of <= {2, 3}


def test_code_that_moved_out_of_a_deleted_file_is_not_new(project: Callable[..., Any]) -> None:
    text = "def old(a):\n    return a + 1 if a > 3 else a\n"
    made = project({**BASE, "kit.py": text})
    base = made.tree({})
    tests = "import new\n\n\ndef test_new():\n    assert new\n"
    tree = made.tree({"kit.py": None, "new.py": text, "tests/test_new.py": tests, "tests/test_kit.py": None})
    change = Change(
        lines={"new.py": bits_of(["1-2"])}, deleted=("kit.py",), frozen=("tests/test_new.py",),
        tests=[{"id": "tests/test_new.py::test_new", "kind": "target"}],
    )  # fmt: skip
    facts, _ = measure_strength(made.rig(), change, base_tree=base, red_tree=tree, tree=tree, bounds=MutationBounds())
    assert (facts["mutation"]["possible"], facts["coverage"]["untested"]) == (0, [])


def test_a_change_that_takes_the_recorder_away_is_told(measure: Measure) -> None:
    blinding = BOTH + "\n\nimport sys\n\nsys.settrace(None)\n"
    coverage = measure(blinding, "5-18")
    assert coverage["lost"] == "the import of the test files"
    assert not measure(BOTH, "5-14")["lost"]


def test_whoever_runs_a_function_meets_its_changed_head(measure: Measure) -> None:
    (row,) = measure(BOTH, "9", requirements={"REQ-001": [IDS[1]]})["requirements"]
    assert row["touches"] is True and row["tests"][0]["changes"]


def test_a_bare_annotation_counts_for_whoever_loads_its_file(measure: Measure) -> None:
    field = "from dataclasses import dataclass\n\n\n@dataclass\nclass Row:\n    name: str\n    size: int\n\n\n" + BOTH
    (row,) = measure(field, "7", requirements={"REQ-001": [IDS[0]]})["requirements"]
    assert row["touches"] is True


def test_a_change_without_any_line_that_is_executed_asks_nothing_of_the_mapping(measure: Measure) -> None:
    (row,) = measure("# a comment\n" + BOTH, "1", requirements={"REQ-001": [IDS[3]]})["requirements"]
    assert row["touches"] is True and row["note"] == "the change has no line that is executed"


def test_what_needs_another_python_or_a_missing_package_is_not_counted(measure: Measure) -> None:
    optional = "import sys\n\ntry:\n    import json\nexcept ImportError:\n    json = None\n"
    optional += "if sys.version_info < (3, 0):\n    text = bytes\n\n\n"
    coverage = measure(optional + BOTH.replace("    if a > 50:\n        return first(a) * 2\n", ""), "1-22")
    assert [row for row in coverage["untested"] if not row["inert"]] == []


def test_a_refactoring_is_not_asked_for_tests_that_the_base_never_had(project: Callable[..., Any]) -> None:
    base_files = {
        "kit.py": "def old(a):\n    return a\n\n\ndef rare(a):\n    if a:\n        return 1\n    return 2\n",
        "docs/conf.py": "project = 'kit'\n",
        "tests/test_kit.py": "import kit\n\n\ndef test_old():\n    assert kit.old(1) == 1\n",
    }
    made = project(base_files)
    base = made.tree()
    kit = "def old(a):\n    return a + 0\n\n\ndef rare(a):\n    return 1 if a > 0 or a < 0 else 2\n"
    tree = made.tree({"kit.py": kit, "docs/conf.py": "project = 'kit'\nauthor = str(project)\n"})
    test = {"id": "tests/test_kit.py::test_old", "kind": "guard"}
    lines = {"kit.py": bits_of(["2", "6"]), "docs/conf.py": bits_of(["2"])}
    for action, left in (("refactor", []), ("modify", ["rare"])):
        change = Change(lines=lines, tests=[test], action=action)
        facts, _ = measure_strength(
            made.rig(), change, base_tree=base, red_tree=tree, tree=tree, bounds=MutationBounds(most=0)
        )
        told = [row["function"] for row in facts["coverage"]["untested"] if not row["inert"]]
        assert told == left, (action, facts["coverage"]["untested"])


def test_names_that_are_spelled_in_another_way_where_no_test_ran_need_no_test(project: Callable[..., Any]) -> None:
    kit = "ALL, SOME = 1, 2\n\n\ndef rule(a, b):\n    if a:\n        return 'a'\n    elif b == ALL:\n        return 'b' + str(b)\n"
    made = project(
        {"kit.py": kit, "tests/test_kit.py": "import kit\n\n\ndef test_a():\n    assert kit.rule(1, 1) == 'a'\n"}
    )
    base = made.tree()
    head = "class Rule:\n    ALL, SOME = 1, 2\n\n\n"
    test = {"id": "tests/test_kit.py::test_a", "kind": "guard"}
    for condition, left in (("b == Rule.ALL", []), ("b != Rule.ALL", ["rule"]), ("b == ALL or not b", ["rule"])):
        tree = made.tree({"kit.py": head + kit.partition("\n\n\n")[2].replace("b == ALL", condition)})
        change = Change(lines={"kit.py": bits_of(["1-2", "8"])}, tests=[test], action="modify")
        facts, _ = measure_strength(
            made.rig(), change, base_tree=base, red_tree=tree, tree=tree, bounds=MutationBounds(most=0)
        )
        told = [row["function"] for row in facts["coverage"]["untested"] if not row["inert"]]
        assert told == left, (condition, facts["coverage"]["untested"])


def test_a_requirement_may_name_single_rows_of_a_test(project: Callable[..., Any]) -> None:
    rows = "import pytest\nimport kit\n\n\nclass TestKit:\n    @pytest.mark.parametrize('a', [1, 2])\n"
    rows += "    def test_old(self, a):\n        assert kit.old(a) == a\n"
    made = project({**BASE, "tests/test_kit.py": rows})
    base, tree = made.tree(), made.tree({"kit.py": "def old(a):\n    return a if a != 2 else 2\n"})
    tests = [{"id": f"tests/test_kit.py::TestKit::test_old[{n}]", "kind": k} for n, k in ((1, "guard"), (2, "target"))]
    for name in ("TestKit::test_old[2]", "TestKit.test_old[2]", "TestKit::test_old"):
        asked = {"REQ-001": [f"tests/test_kit.py::{name}"]}
        change = Change(lines={"kit.py": bits_of(["2"])}, tests=tests, requirements=asked)
        facts, _ = measure_strength(
            made.rig(), change, base_tree=base, red_tree=tree, tree=tree, bounds=MutationBounds(most=0)
        )
        (row,) = facts["coverage"]["requirements"]
        assert row["touches"] is True and len(row["tests"]) == (1 if "[" in name else 2)


def test_a_target_that_only_loading_the_change_makes_pass_is_tied_to_it(project: Callable[..., Any]) -> None:
    made = project({"kit.py": "__all__ = ['first']\n\ndef first(a):\n    return a + 1\n"})
    base = made.tree({})
    source = "__all__ = ['first', 'second']\n\ndef first(a):\n    return a + 1\n\ndef second(a):\n    return a + 2\n"
    tests = (
        "import kit\n\ndef test_exported(): assert 'second' in kit.__all__\n"
        "def test_second(): assert kit.second(1) == 3\n"
    )
    tree = made.tree({"kit.py": source, "tests/test_new.py": tests})
    ids = [f"tests/test_new.py::test_{name}" for name in ("exported", "second")]

    def touched(outcome: str) -> bool:
        change = Change(
            lines={"kit.py": bits_of(["1", "6-7"])},
            tests=[{"id": one, "kind": "target", "outcome": outcome} for one in ids],
            requirements={"REQ-001": ids[:1]},
            named={"REQ-001": [("kit.py", "second")]},
            frozen=("tests/test_new.py",),
        )
        facts, _ = measure_strength(
            made.rig(), change, base_tree=base, red_tree=tree, tree=tree, bounds=MutationBounds(most=0)
        )
        (row,) = facts["coverage"]["requirements"]
        return bool(row["touches"])

    assert touched("failed")
    assert not touched("error")  # its file could not be loaded at the base: that says nothing of what it is about
