"""The contracts of a fix: good artifacts pass, every spoiled fact fails at its rule, and nothing passes unmeasured."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from agentforge.contracts.catalogue import ContractSet
from agentforge.contracts.check import check
from agentforge.contracts.contract import FIX_STAGE_OF

TREE = "a" * 40
CHANGE = {"path": "src/a.py", "summary": "", "lines_added": 1, "lines_removed": 1}
CHANGED_FACTS: dict[str, Any] = {
    "violations_left": [],
    "not_measured": [],
    "conformance": {"passed": True, "new": [], "crashed": []},
    "out_of_scope": [],
    "new_suppressions": [],
    "changes": [{"path": "src/a.py"}],
    "test_files": [],
}
GUARD = {"id": "tests/test_a.py::test_f", "kind": "guard", "outcome": "passed"}
ARTIFACTS: dict[str, Any] = {
    "violation_analysis": {
        "violations": [{"violation_id": "V-1", "rule": "ruff/F401", "file": "src/a.py", "line": 3}],
        "files_to_modify": ["src/a.py"],
    },
    "guard_suite": {"test_files": [{"path": "tests/test_a.py", "tests": [{"name": "test_f"}]}]},
    "violation_fix": {"by": "model", "changes": [CHANGE]},
    "fix_verification": {
        "tree": TREE,
        "verification": {"violations_gone": True, "conformance_passing": True, "no_regressions": True},
    },
    "fix_report": {
        "task_id": "task-20261122-fix",
        "request": "Fix",
        "branch": "agentforge/task-20261122-fix",
        "base_commit": "b" * 40,
        "commits": [{"id": "c" * 40, "subject": "fix: ruff/F401 in src/a.py"}],
        "requirements": [{"id": "V-1", "tests": [], "changes": [{"path": "src/a.py", "lines": "3"}]}],
        "verification": {},
    },
}
FACTS: dict[str, Any] = {
    "violation_analysis": {"targets": [{"check": "ruff"}], "gone": []},
    "guard_suite": {
        "tests": [GUARD],
        "guards_pass": True,
        "declared_missing": [],
        "collection_errors": [],
        "duplicates": [],
        "product_changed": [],
        "frozen": {"tests/test_a.py::test_f": "0" * 64},
        "frozen_files": {},
        "unguarded": [],
        "existing_changed": [],
        "controls": {"held": True},
    },
    "violation_fix": CHANGED_FACTS,
    "fix_verification": {
        **CHANGED_FACTS,
        "suite": {"failing": []},
        "regressions": [],
        "missing": [],
        "no_regressions": True,
        "frozen_changed": [],
        "config_changed": [],
        "checks_changed": [],
        "deceptions": [],
        "controls": {"held": True},
    },
    "fix_report": {
        "branch": "agentforge/task-20261122-fix",
        "commit": "c" * 40,
        "tree": TREE,
        "verified_tree": TREE,
        "tree_matches": True,
    },
}


def failed(contracts: ContractSet, name: str, facts: dict[str, Any]) -> set[str]:
    return {item.rule for item in check(contracts.get(name), ARTIFACTS[name], facts=facts, inputs={}).failures}


@pytest.mark.parametrize("name", FIX_STAGE_OF)
def test_a_good_artifact_passes_and_without_facts_it_does_not(name: str, contracts: ContractSet) -> None:
    assert failed(contracts, name, FACTS[name]) == set()
    assert failed(contracts, name, {}) != set()


@pytest.mark.parametrize(
    ("name", "fact", "value", "rule"),
    [
        ("violation_analysis", "gone", ["V-1 src/a.py"], "violations-present"),
        ("violation_analysis", "targets", [], "violations-present"),
        ("guard_suite", "unguarded", ["src/a.py: f"], "place-guarded"),
        ("guard_suite", "guards_pass", False, "guards-pass"),
        ("guard_suite", "product_changed", ["src/a.py"], "product-untouched"),
        ("violation_fix", "violations_left", [{"path": "src/a.py"}], "violations-gone"),
        ("violation_fix", "not_measured", [{"check": "mypy", "reason": "boom"}], "violations-gone"),
        ("violation_fix", "new_suppressions", [{"path": "src/a.py", "line": 1, "text": "# noqa"}], "no-suppressions"),
        ("violation_fix", "out_of_scope", ["pyproject.toml"], "within-scope"),
        ("violation_fix", "changes", [], "change-made"),
        ("fix_verification", "violations_left", [{"path": "src/a.py"}], "violations-gone"),
        ("fix_verification", "suite", {"failing": [{"id": "tests/test_a.py::test_f"}]}, "guards-still-pass"),
        ("fix_verification", "suite", {}, "guards-still-pass"),
        ("fix_verification", "regressions", ["tests/test_b.py::test_g"], "no-regressions"),
        ("fix_verification", "missing", ["tests/test_b.py::test_g"], "no-regressions"),
        ("fix_verification", "config_changed", ["conftest.py"], "runner-unchanged"),
        ("fix_verification", "checks_changed", ["pyproject.toml"], "checks-unchanged"),
        ("fix_verification", "deceptions", [{"path": "src/a.py"}], "no-deception"),
        ("guard_suite", "existing_changed", ["tests/test_b.py::test_g"], "existing-kept"),
        ("fix_verification", "controls", {"held": False}, "controls-held"),
        ("fix_report", "tree_matches", False, "verified-tree"),
    ],
)
def test_each_rule_refuses_what_it_is_there_for(
    name: str, fact: str, value: object, rule: str, contracts: ContractSet
) -> None:
    assert rule in failed(contracts, name, {**copy.deepcopy(FACTS[name]), fact: value})
