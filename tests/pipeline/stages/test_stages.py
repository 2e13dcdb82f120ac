"""Every stage: its record, its draft where no model is needed, and the artifact that it makes of draft and facts."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.config.contract_files import contract_set
from agentforge.contracts.check import draft_schema
from agentforge.pipeline.model.stage import ACTIONS, CHANGING, items, texts
from agentforge.pipeline.stages import ALIASES, ORDER, load_stages
from agentforge.toolbox import find
from tests.support.run_states import with_fields
from tests.support.stage_states import inside

STAGES = load_stages()
CONTRACTS = contract_set(None)
MEASURED = {"all_tests_pass": True, "no_regressions": True, "conformance": {"passed": True, "new": [], "ran": ["ruff"]}}


def made(stage: str, draft: dict[str, Any], measured: dict[str, Any], **changes: Any) -> Any:
    return STAGES[stage].complete(inside(stage, **changes), draft, measured)


@pytest.mark.parametrize("name", ORDER)
def test_a_stage_names_tools_contracts_and_stages_that_there_are(name: str) -> None:
    stage = STAGES[name]
    assert set(find(stage.tools)) == set(stage.tools)
    assert stage.produces in CONTRACTS.names
    assert set(stage.consumes) <= set(ORDER[: ORDER.index(name)])
    assert stage.rejected_to in ("", *ORDER[: ORDER.index(name)])
    assert stage.purpose and stage.criteria and set(stage.actions) <= set(ACTIONS)


@pytest.mark.parametrize("name", ORDER)
def test_no_field_that_the_harness_writes_is_asked_of_the_model(name: str) -> None:
    stage = STAGES[name]
    asked = draft_schema(CONTRACTS.get(stage.produces), omit=stage.omit)["properties"]
    assert not {field for field in stage.omit if "." not in field} & set(asked)  # type: ignore[call-overload]
    if name in ("red", "green", "refactor"):
        assert "verification" in stage.omit


def test_a_question_needs_only_the_stages_that_look() -> None:
    assert [name for name in ORDER if "analyze" in STAGES[name].actions] == ["intake", "clarify", "analyze"]
    assert all(set(CHANGING) <= set(stage.actions) for stage in STAGES.values())
    assert set(ALIASES.values()) <= set(ORDER)


def test_only_writing_stages_offer_tools_that_write() -> None:
    for stage in STAGES.values():
        writing = [tool.name for tool in find(stage.tools).values() if tool.effect == "write"]
        assert bool(writing) == (stage.writes != "none"), stage.name


def test_intake_keeps_the_request_word_for_word() -> None:
    record = made("intake", {"goal": "g", "original_request": "forged", "request_id": "x", "metadata": {}}, {})
    assert (record["original_request"], record["request_id"], record["goal"]) == ("Add slugify", "task-1", "g")
    assert record["metadata"]["tokens_used"] == 0


def test_analyze_takes_its_base_line_from_the_measurement() -> None:
    facts = {
        "baseline": {
            "runner": "pytest",
            "command": "c",
            "tests": 3,
            "passed": 2,
            "failing": ["t"],
            "test_files": ["t.py"],
            "problems": [],
        }
    }
    analysis = made("analyze", {"summary": "s", "tests": {"runner": "forged"}}, {}, facts=facts)
    assert analysis["tests"] == {
        "runner": "pytest", "command": "c", "paths": ["t.py"], "baseline": {"tests": 3, "passed": 2, "failing": ["t"]},
    }  # fmt: skip
    assert made("analyze", {}, {}, facts={})["tests"]["runner"] == "none"


def test_a_specification_is_named_by_its_content() -> None:
    one, same = made("spec", {"title": "a"}, {}), made("spec", {"title": "a", "spec_id": "forged"}, {})
    assert one == same and one["spec_id"].startswith("spec-")
    assert made("spec", {"title": "b"}, {})["spec_id"] != one["spec_id"]


def test_red_maps_requirements_to_tests_and_believes_no_claim() -> None:
    tests = [{"name": "test_a", "requirement_ref": "REQ-001"}, {"name": "test_b", "requirement_ref": "REQ-001"}]
    draft = {"test_files": [{"path": "tests/t.py", "tests": tests}], "verification": {"all_tests_fail": True}}
    suite = made("red", draft, {"no_implementation_exists": True})
    assert suite["coverage_mapping"] == {"REQ-001": ["tests/t.py::test_a", "tests/t.py::test_b"]}
    assert suite["verification"] == {"all_tests_fail": False, "no_implementation_exists": True}
    assert suite["spec_ref"] == "spec-1"
    assert made("red", draft, {"frozen": {"tests/t.py": "d"}})["suite_id"] != suite["suite_id"]


def test_a_test_that_shows_criteria_of_two_requirements_is_mapped_to_both() -> None:
    test = {"name": "test_a", "requirement_ref": "REQ-001", "acceptance_criterion": "REQ-001.2, REQ-002.1, in words"}
    suite = made("red", {"test_files": [{"path": "tests/t.py", "tests": [test]}]}, {})
    assert suite["coverage_mapping"] == {"REQ-001": ["tests/t.py::test_a"], "REQ-002": ["tests/t.py::test_a"]}


def test_supplied_tests_cover_every_criterion_of_every_requirement_once() -> None:
    rows = [
        {"id": "tests/t.py::test_a", "kind": "target"},
        {"id": "tests/t.py::K::test_b", "kind": "guard"},
        {"id": "other.py::x"},
    ]
    suite = made(
        "red", STAGES["red"].draft(inside("red", tests=("tests/t.py",))), {"tests": rows}, tests=("tests/t.py",)
    )
    (file,) = suite["test_files"]
    assert [(test["name"], test["requirement_ref"], test["kind"]) for test in file["tests"]] == [
        ("test_a", "REQ-001", "target"), ("test_a", "REQ-002", "target"),
        ("K::test_b", "REQ-001", "guard"), ("K::test_b", "REQ-002", "guard"),
    ]  # fmt: skip
    assert file["tests"][0]["acceptance_criterion"] == "REQ-001.1, REQ-001.2"
    every = ["tests/t.py::test_a", "tests/t.py::K::test_b"]
    assert suite["coverage_mapping"] == {"REQ-001": every, "REQ-002": every}


def test_green_tells_changes_from_git_and_purposes_from_the_model() -> None:
    changes = [
        {"path": "kit/slug.py", "status": "added", "added": 9},
        {"path": "kit/text.py", "status": "modified", "added": 2, "removed": 1},
        {"path": "kit/old.py", "status": "deleted", "removed": 5},
        {"path": "tests/t.py", "status": "added", "added": 7},
    ]
    draft = {
        "files_created": [
            {"path": "kit/slug.py", "purpose": "slugs", "lines": 999},
            {"path": "never.py", "purpose": "x"},
        ],
        "verification": {"all_tests_pass": True},
    }
    done = made("green", draft, {"changes": changes, "test_files": ["tests/t.py"]})
    assert done["files_created"] == [{"path": "kit/slug.py", "purpose": "slugs", "lines": 9}]
    assert [(row["path"], row["changes_summary"], row["lines_added"]) for row in done["files_modified"]] == [
        ("kit/text.py", "modified", 2), ("kit/old.py", "deleted", 0),
    ]  # fmt: skip
    assert done["verification"] == {"all_tests_pass": False, "conformance_passing": False, "no_regressions": False}


@pytest.mark.parametrize(
    ("facts", "verdicts"),
    [
        (MEASURED, (True, True, True)),
        ({**MEASURED, "conformance": {"passed": "yes"}}, (True, False, True)),
        ({**MEASURED, "all_tests_pass": 1}, (False, True, True)),
        ({}, (False, False, False)),
    ],
)
def test_a_missing_or_odd_fact_is_no_verification(facts: dict[str, Any], verdicts: tuple[bool, ...]) -> None:
    assert tuple(made("green", {}, facts)["verification"].values()) == verdicts


def test_refactor_is_free_when_there_is_nothing_to_clean() -> None:
    stage = STAGES["refactor"]
    assert not stage.needs_model(inside("refactor"))
    assert stage.needs_model(inside("refactor", findings=({"rule": "human"},)))
    assert stage.draft(inside("refactor")) == {"changes": []}


def test_refactor_reports_conformance_before_and_after_and_what_changed() -> None:
    before = {"green": {"conformance": {"new": [{"rule": "F401"}], "ran": ["ruff"]}}}
    facts = {**MEASURED, "tree": "t2", "refactored": [{"path": "a.py", "added": 1, "removed": 2}, {"path": "b.py"}]}
    done = made("refactor", {"changes": [{"path": "a.py", "summary": "one loop"}]}, facts, facts=before)
    assert done["conformance"] == {"before": 1, "after": 0, "checks": ["ruff"]}
    assert [(row["path"], row["summary"]) for row in done["changes"]] == [("a.py", "one loop"), ("b.py", "cleaned up")]
    assert (done["implementation_ref"], done["tree"], all(done["verification"].values())) == ("impl-1", "t2", True)


def test_deliver_needs_no_model_whatever_happens() -> None:
    assert not STAGES["deliver"].needs_model(inside("deliver", findings=({"rule": "human"},)))


@pytest.mark.parametrize("value", [None, 3, "x", {}, {"a": 1}, [1, None, "y"], [[]]])
def test_drafts_of_any_shape_are_read_without_an_exception(value: Any) -> None:
    assert [item for item in items(value) if not isinstance(item, dict)] == []
    assert all(isinstance(item, str) for item in texts(value))
    keys = ("questions", "test_files", "files_created", "files_modified", "changes", "symbols", "impacted_files")
    for name in ORDER[:-1]:
        state = with_fields(inside(name), submission=None)
        assert isinstance(STAGES[name].complete(state, dict.fromkeys(keys, value), {}), dict)
