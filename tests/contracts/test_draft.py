"""What a model is asked to submit: the contract's schema without what the harness writes, and short."""

from __future__ import annotations

import json

import jsonschema_rs
import pytest

from agentforge.contracts.catalogue import ContractSet
from agentforge.contracts.check import draft_schema
from agentforge.errors import ContractInvalid
from agentforge.tokens import count_tokens


def test_properties_of_the_harness_are_removed_with_their_requirement(contracts: ContractSet) -> None:
    schema = draft_schema(
        contracts.get("test_suite"), omit=("suite_id", "spec_ref", "verification", "test_files.tests.kind")
    )
    assert list(schema["properties"]) == ["test_files", "coverage_mapping", "equivalent_mutants"]  # type: ignore[call-overload]
    assert schema["required"] == ["test_files"]
    assert '"kind"' not in json.dumps(schema)
    jsonschema_rs.Draft202012Validator(schema)


def test_an_object_left_without_properties_is_removed_too(contracts: ContractSet) -> None:
    omit = ("verification.all_tests_fail", "verification.no_implementation_exists", "no.such.thing")
    assert "verification" not in draft_schema(contracts.get("test_suite"), omit=omit)["properties"]  # type: ignore[operator]


def test_more_properties_may_be_asked_in_the_dialect(contracts: ContractSet) -> None:
    schema = draft_schema(
        contracts.get("analysis"), extra={"note": {"type": "string", "max_length": 9, "required": True}}
    )
    assert schema["properties"]["note"] == {"type": "string", "maxLength": 9}  # type: ignore[index]
    assert schema["required"] == ["summary", "impacted_files", "note"]
    with pytest.raises(ContractInvalid):
        draft_schema(contracts.get("analysis"), extra={"note": {"typ": "string"}})


def test_a_draft_schema_carries_no_annotations_and_leaves_the_contract_alone(contracts: ContractSet) -> None:
    before = json.dumps(contracts.get("specification").json_schema)
    text = json.dumps(draft_schema(contracts.get("specification"), omit=("requirements.id",)))
    assert json.dumps(contracts.get("specification").json_schema) == before
    assert not any(word in text for word in ('"$schema"', '"examples": [', '"default"', '"title:"'))


def test_a_bare_draft_schema_describes_nothing_and_keeps_the_field_of_that_name(contracts: ContractSet) -> None:
    contract = contracts.get("specification")
    bare, told = (draft_schema(contract, bare=one) for one in (True, False))
    assert '"description": "' in json.dumps(told)
    assert '"description": "' not in json.dumps(bare)
    assert bare["properties"].keys() == told["properties"].keys()  # type: ignore[attr-defined]  # an object
    assert '"description": {' in json.dumps(bare)
    assert '"minLength"' in json.dumps(told) and '"minLength"' not in json.dumps(bare)


def test_the_largest_draft_costs_less_than_the_budget_of_all_actions(contracts: ContractSet) -> None:
    harness = {
        "intake_record": ("request_id", "original_request", "metadata"),
        "clarification": ("clarification_id", "intake_ref", "metadata"),
        "analysis": ("analysis_id", "intake_ref", "tests.baseline", "metadata"),
        "specification": ("spec_id", "interfaces", "constraints", "dependencies"),
        "test_suite": ("suite_id", "spec_ref", "verification", "equivalent_mutants"),
        "implementation": ("implementation_id", "spec_ref", "test_suite_ref", "verification", "mutation"),
    }
    costs = {
        name: count_tokens(json.dumps(draft_schema(contracts.get(name), omit=omit), separators=(",", ":")))
        for name, omit in harness.items()
    }
    assert max(costs.values()) <= 600, costs


def test_long_descriptions_are_cut_to_a_sentence() -> None:
    from agentforge.contracts.dialect import parse_contract

    text = (
        "contract: m\nschema:\n  a: {type: string, description: 'First words. Then more.'}\n  b: {description: '%s'}\n"
    )
    schema = draft_schema(parse_contract(text % ("word " * 40), source="m"))
    assert schema["properties"]["a"]["description"] == "First words"  # type: ignore[index]
    assert len(schema["properties"]["b"]["description"]) <= 90  # type: ignore[index]
