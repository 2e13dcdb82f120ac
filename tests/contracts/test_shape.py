"""The shape of a draft in one line holds every field of its schema, and costs a third of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from agentforge.config.contract_files import contract_set
from agentforge.contracts.draft import draft_schema
from agentforge.contracts.shape import shape_of
from agentforge.tokens import count_tokens


def test_a_shape_names_fields_types_choices_and_what_may_be_left_out() -> None:
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 9},
            "line": {"type": "integer"},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "kinds": {"type": "array", "items": {"enum": ["a", "b"]}},
            "tests": {"type": "array", "items": {"type": "object", "properties": {"held": {"type": "boolean"}}}},
            "asks": {"type": "object"},
            "returns": {},
        },
        "required": ["name"],
    }
    fields = "name: string <= 9 letters, line?: number, kind?: a | b, kinds?: (a | b)[], tests?: {held?: boolean}[], asks?: object"
    assert shape_of(schema) == f"{{{fields}, returns?: any}}"


def _names(schema: Mapping[str, Any]) -> Iterator[str]:
    for name, inner in schema.get("properties", {}).items():
        yield name
        yield from _names(inner)
    if "items" in schema:
        yield from _names(schema["items"])


@pytest.mark.parametrize("name", ["analysis", "specification"])
def test_every_field_of_a_contract_stands_in_its_shape(name: str) -> None:
    schema = draft_schema(contract_set(None).get(name), bare=True)
    shape, names = shape_of(schema), set(_names(schema))
    assert len(names) > 10
    assert {one for one in names if not re.search(rf"\b{one}\??: ", shape)} == set()
    assert count_tokens(shape) < count_tokens(json.dumps(schema)) / 2
