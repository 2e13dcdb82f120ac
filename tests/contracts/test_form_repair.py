"""The form of a draft is mended where there is one way to read it; what is optional and unreadable is dropped, and told."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.contracts.catalogue import ContractSet
from agentforge.contracts.draft import draft_schema
from agentforge.contracts.form_repair import in_form, without_unreadable

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 20},
        "count": {"type": "integer"},
        "sure": {"type": "number", "minimum": 0, "maximum": 1},
        "kind": {"type": "string", "enum": ["must", "should", "bug_fix"]},
        "paths": {"type": "array", "items": {"type": "string"}},
        "flag": {"type": "boolean"},
        "rows": {
            "type": "array",
            "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        },
    },
    "required": ["title"],
}


@pytest.mark.parametrize(
    ("field", "given", "expected"),
    [
        ("count", "12", 12),
        ("sure", "80%", 0.8),
        ("title", 7, "7"),
        ("title", ["a", "b"], "a\nb"),
        ("title", {"description": "said"}, "said"),
        ("title", "one two three four five six", "one two three..."),
        ("kind", "MUST", "must"),
        ("kind", "must have", "must"),
        ("kind", "bug-fix", "bug_fix"),
        ("kind", "shoud", "should"),
        ("paths", "a.py", ["a.py"]),
        ("paths", ["a.py", "b.py", "a.py"], ["a.py", "b.py"]),
        ("paths", "", []),
        ("flag", "true", True),
    ],
)
def test_a_value_is_written_in_the_form_that_the_schema_asks_for(field: str, given: Any, expected: Any) -> None:
    draft, told = in_form({field: given}, SCHEMA)
    assert draft[field] == expected
    assert [one.path for one in told] == [field]
    assert in_form(draft, SCHEMA) == (draft, [])


def test_null_for_an_optional_field_is_the_same_as_leaving_it_out() -> None:
    assert in_form({"title": "x", "count": None, "paths": [None, "a"]}, SCHEMA) == ({"title": "x", "paths": ["a"]}, [])


def test_what_is_optional_and_cannot_be_read_is_dropped_and_told() -> None:
    draft = {"title": "x", "count": "many", "sure": 4, "rows": [{"n": 1}, {"m": 2}, {"n": 3}]}
    kept, told = without_unreadable(draft, SCHEMA)
    assert kept == {"title": "x", "rows": [{"n": 1}, {"n": 3}]}
    assert sorted(one.path for one in told) == ["count", "rows[1]", "sure"]


def test_what_is_required_and_wrong_stays_for_its_author() -> None:
    assert without_unreadable({"title": {}}, SCHEMA) == ({"title": {}}, [])


def test_a_symbol_without_a_file_leaves_the_specification_but_no_requirement_does(contracts: ContractSet) -> None:
    schema = draft_schema(contracts.get("specification"), omit=("spec_id",))
    draft = {
        "title": "t",
        "description": "d",
        "requirements": [{"acceptance_criteria": ["a"]}],
        "symbols": [{"name": "f", "kind": "function", "change": "new"}],
        "dependencies": 3,
    }
    kept, told = without_unreadable(draft, schema)
    assert (kept["symbols"], kept["requirements"]) == ([], [{"acceptance_criteria": ["a"]}])
    assert {one.path for one in told} == {"symbols[0]", "dependencies"}
