"""The published schema of events holds for every log that a version of this program wrote."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest

from agentforge.events.storage.state_codec import event_kinds

ROOT = Path(__file__).parents[2]
LOGS = sorted((ROOT / "tests" / "golden").rglob("events.jsonl"))


@pytest.fixture(scope="module")
def schema() -> dict[str, object]:
    loaded: dict[str, object] = json.loads((ROOT / "docs" / "reference" / "events.schema.json").read_text())
    return loaded


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.parent.name)
def test_every_record_of_a_stored_log_is_valid(schema: dict[str, object], log: Path) -> None:
    validator = jsonschema_rs.validator_for(schema)
    wrong = [line for line in log.read_text().splitlines() if not validator.is_valid(json.loads(line))]
    assert LOGS and wrong == []


def test_a_record_with_a_field_of_another_type_is_not(schema: dict[str, object]) -> None:
    record = json.loads(LOGS[0].read_text().splitlines()[0])
    assert jsonschema_rs.is_valid(schema, record)
    assert not jsonschema_rs.is_valid(schema, {**record, "data": {**record["data"], "run_id": 7}})
    assert not jsonschema_rs.is_valid(schema, {**record, "type": "NoSuchEvent"})


def test_every_event_has_a_place_in_it(schema: dict[str, object]) -> None:
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)
    assert set(definitions) == set(event_kinds())
