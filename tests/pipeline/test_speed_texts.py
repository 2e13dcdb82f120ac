"""What RED is told of a request for speed agrees with what its rules will ask."""

from __future__ import annotations

import pytest

from agentforge.contracts.inspection import guards_suffice
from agentforge.pipeline.facts.speed import measured_text
from tests.support.run_states import run_state

_INTAKE = {"extracted_intent": {"action": "fix", "performance": True}}


def _spec(*measured: str) -> dict[str, object]:
    requirements = [{"id": name, "priority": "must", "verification_method": "test"} for name in ("REQ-001", "REQ-002")]
    rows = [{"requirement": name, "statement": f"work({number})"} for number, name in enumerate(measured)]
    return {"requirements": requirements, "measurements": rows}


@pytest.mark.parametrize("measured", [("REQ-001",), ("REQ-001", "REQ-002")])
def test_guards_are_said_to_suffice_where_the_rules_say_so(measured: tuple[str, ...]) -> None:
    spec = _spec(*measured)
    told = measured_text(run_state(artifacts={"intake": _INTAKE, "spec": spec}))
    assert ("guards suffice" in told) is guards_suffice(spec, _INTAKE)
