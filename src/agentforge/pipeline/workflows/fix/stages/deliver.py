"""DELIVER of a fix: no model. The commit from the verified tree, the report from the trail."""

from __future__ import annotations

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.stage import Json, Stage
from agentforge.pipeline.workflows.fix.delivery import fix_report


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
    shows_whole_change=True,
)
