"""States of a run by their fields, for tests that do not care which record of the state holds which field."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields, replace
from typing import Any

from agentforge.events.state.run_state import RunState

_RECORD_OF = {
    field.name: record.name
    for record in fields(RunState)
    if record.name != "talk"
    for field in fields(getattr(RunState(), record.name))
}


def run_state(**values: Any) -> RunState:
    """A state with these fields, each put into the record that holds it."""
    return with_fields(RunState(), **values)


def with_fields(state: RunState, **values: Any) -> RunState:
    """The state with these fields changed, each in the record that holds it."""
    records: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, value in values.items():
        records[_RECORD_OF[name]][name] = value
    changed: dict[str, Any] = {name: replace(getattr(state, name), **held) for name, held in records.items()}
    return replace(state, **changed)
