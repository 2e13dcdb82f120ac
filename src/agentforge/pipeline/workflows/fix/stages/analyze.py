"""ANALYZE of a fix: no model. The violations as they stand at the base, what may be written, who can repair them."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.conformance import finding_from, violation_id
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.base_line import base_line_first
from agentforge.pipeline.model.stage import Json, Stage, items, texts
from agentforge.pipeline.stages.analyze import measured_tests


def needs_model(_state: RunState) -> bool:
    """Never: everything here is measured."""
    return False


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """The measured violations, each with the words of the contract that asks for its rule."""
    told = {str(item.get("rule")): str(item.get("description", "")) for item in items(facts.get("rules"))}
    repairs = facts.get("repairs")
    targets = items(facts.get("targets"))
    return {
        "violations": [
            {
                "violation_id": violation_id(finding_from(row)),
                "rule": f"{row.get('check')}/{row.get('rule_id')}",
                "file": row.get("path", ""),
                "line": row.get("line", 0),
                "message": row.get("message", ""),
                "hint": row.get("hint", ""),
                "description": told.get(str(row.get("rule_id")).partition(".")[0], ""),
            }
            for row in targets
        ],
        "files_to_modify": texts(facts.get("scope")),
        "repaired_by": sorted({str(row.get("check")) for row in targets})
        if isinstance(repairs, Mapping) and repairs
        else [],
        "unguarded": texts(facts.get("unguarded")),
        "tests": measured_tests(state),
    }


STAGE = Stage(
    name="analyze",
    produces="violation_analysis",
    consumes=(),
    purpose="measure the violations, try the repairs that checks offer",
    criteria=("every violation stands at the base commit",),
    needs_model=needs_model,
    complete=complete,
    begins_with=(base_line_first,),
)
