"""DELIVER of a fix: no model. The commit from the verified tree, the report from the trail."""

from __future__ import annotations

from agentforge.events.state import RunState
from agentforge.pipeline.fix_delivery import fix_report
from agentforge.pipeline.stage import Json, Stage


def needs_model(_state: RunState) -> bool:
    """Never: everything that the report says was measured."""
    return False


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """The report over the commit that was made."""
    lines = facts.get("changed_lines")
    return fix_report(state, facts, lines if isinstance(lines, dict) else {})


STAGE = Stage(
    name="deliver",
    produces="fix_report",
    consumes=("analyze", "guard", "change", "verify"),
    purpose="commit, branch and report",
    criteria=("the branch holds the verified tree",),
    needs_model=needs_model,
    complete=complete,
    rejected_to="verify",
)
