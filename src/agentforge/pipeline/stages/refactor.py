"""REFACTOR: no call when the implementation is clean, else exactly the findings are repaired."""

from __future__ import annotations

from agentforge.canonical import digest_value
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.stage import Json, Stage, items, texts
from agentforge.pipeline.stages.green import mutation, verification


def needs_model(state: RunState) -> bool:
    """Something is left to clean: findings of an earlier attempt, or a human's words."""
    return bool(state.review.findings)


def draft(state: RunState) -> dict[str, object]:
    """Nothing to clean."""
    return {"changes": []}


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """What refactoring changed, conformance before and after, and the verification measured again."""
    before = findings_of(state.work.facts.get("green", {}))
    after = findings_of(facts)
    told = {str(item.get("path")): str(item.get("summary", "")) for item in items(draft.get("changes"))}
    body = {
        "spec_ref": state.work.artifacts.get("spec", {}).get("spec_id", ""),
        "implementation_ref": state.work.artifacts.get("green", {}).get("implementation_id", ""),
        "changes": [
            {
                "path": change.get("path", ""),
                "summary": told.get(str(change.get("path")), "") or "cleaned up",
                "lines_added": change.get("added", 0),
                "lines_removed": change.get("removed", 0),
            }
            for change in items(facts.get("refactored"))
        ],
        "conformance": {"before": before[0], "after": after[0], "checks": after[1]},
        "tree": facts.get("tree", ""),
    }
    return {
        "deliverable_id": f"deliverable-{digest_value(body)[:12]}",
        **body,
        "verification": verification(facts),
        **mutation(facts),
    }


def findings_of(facts: Json) -> tuple[int, list[str]]:
    """Number of new findings, and the checks that ran."""
    report = facts.get("conformance")
    if not isinstance(report, dict):
        return 0, []
    return len(items(report.get("new"))), texts(report.get("ran"))


STAGE = Stage(
    name="refactor",
    produces="deliverable",
    consumes=("spec", "green"),
    purpose="clean up; measured again",
    criteria=("every finding is repaired", "all tests still pass, nothing else changed"),
    tools=(
        "edit",
        "write_file",
        "read_file",
        "grep",
        "run_tests",
        "run_checks",
        "apply_patch",
        "refactor",
        "git_diff",
        "submit_artifact",
    ),
    writes="product",
    omit=(
        *("deliverable_id", "spec_ref", "implementation_ref", "conformance", "tree", "verification", "mutation"),
        *("changes.lines_added", "changes.lines_removed"),
    ),
    needs_model=needs_model,
    draft=draft,
    complete=complete,
)
