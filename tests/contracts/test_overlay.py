"""A resubmission may send changed fields only."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.contracts.draft import overlaid

REFUSED: dict[str, Any] = {
    "title": "Add slugify",
    "requirements": [
        {"id": "REQ-001", "description": "lower", "acceptance_criteria": ["a"]},
        {"id": "REQ-002", "description": "join", "acceptance_criteria": ["b"]},
    ],
    "files_to_modify": ["a.py"],
}


def test_a_field_that_is_not_sent_stays_as_it_was() -> None:
    assert overlaid(REFUSED, {"title": "New"}) == {**REFUSED, "title": "New"}
    assert overlaid(REFUSED, {"files_to_modify": ["b.py"]})["files_to_modify"] == ["b.py"]


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([{"id": "REQ-002", "acceptance_criteria": ["c"]}], ["lower:a", "join:c"]),
        ([{"id": "REQ-003", "description": "trim", "acceptance_criteria": ["t"]}], ["lower:a", "join:b", "trim:t"]),
        ([{"id": "REQ-001", "description": "lower", "acceptance_criteria": ["a"]}], ["lower:a", "join:b"]),
        ([{"id": "REQ-002", "drop": True}], ["lower:a"]),
    ],
)
def test_records_are_merged_by_their_id_unless_the_list_is_sent_whole(sent: Any, expected: list[str]) -> None:
    merged: Any = overlaid(REFUSED, {"requirements": sent})["requirements"]
    assert [f"{item['description']}:{item['acceptance_criteria'][0]}" for item in merged] == expected
    assert all("drop" not in item for item in merged)


def test_a_list_that_repeats_most_of_the_old_records_is_the_whole_list() -> None:
    rows = [{"id": f"REQ-{number}", "text": "x"} for number in range(4)]
    merged = [
        overlaid({"requirements": rows}, {"requirements": sent})["requirements"] for sent in (rows[:3], rows[:2], [])
    ]
    assert merged == [rows[:3], rows, []]


def test_tests_of_a_file_are_merged_by_name_inside_their_file() -> None:
    tests = [{"name": "test_a", "kind": "target"}, {"name": "test_b", "kind": "target"}]
    refused = {"test_files": [{"path": "t.py", "tests": tests}]}
    sent = {"test_files": [{"path": "t.py", "tests": [{"name": "test_b", "kind": "guard"}]}]}
    merged: Any = overlaid(refused, sent)["test_files"]
    assert [(test["name"], test["kind"]) for test in merged[0]["tests"]] == [("test_a", "target"), ("test_b", "guard")]


def test_what_cannot_be_told_apart_is_replaced() -> None:
    refused = {"risks": [{"description": "a"}], "x": {"y": 1, "z": 2}}
    assert overlaid(refused, {"risks": [{"description": "b"}]})["risks"] == [{"description": "b"}]
    assert overlaid(refused, {"x": {"y": 3}})["x"] == {"y": 3, "z": 2}


def test_records_without_a_name_of_their_own_are_replaced_with_their_list() -> None:
    refused = {"examples": [{"call": "f(1)", "returns": "[1]"}, {"call": "f(2)", "raises": "ValueError"}]}
    sent = [{"call": "list(f(1))", "returns": "[1]"}, {"call": "f(2)", "raises": "ValueError"}]
    assert overlaid(refused, {"examples": sent})["examples"] == sent


def test_a_shorter_list_without_any_of_the_old_records_adds_to_them() -> None:
    old = [{"name": "parse", "file": "a.py"}, {"name": "Reader", "file": "a.py"}]
    more = {"name": "ReadError", "file": "a.py"}
    assert overlaid({"symbols": old}, {"symbols": [more]})["symbols"] == [*old, more]
    assert overlaid({"symbols": old[:1]}, {"symbols": [more]})["symbols"] == [more]
