"""DELIVER: no model. The commit is made from the verified tree, the report from the trail; the branch comes after approval."""

from __future__ import annotations

from collections.abc import Sequence

from agentforge.agent import Effect
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.delivery.commit import report
from agentforge.pipeline.examination.examiner import examination
from agentforge.pipeline.ledger.promises import doubtful, undecided_examples
from agentforge.pipeline.model.stage import Json, Stage, needs_no_model


def complete(state: RunState, draft: Json, facts: Json) -> dict[str, object]:
    """The delivery report over the commit that was made."""
    lines = facts.get("changed_lines")
    return report(state, facts, lines if isinstance(lines, dict) else {})


def _examined_first(state: RunState, order: Sequence[str]) -> Effect | None:
    if not state.brief.examiner:  # GREEN asked about its own tree; what came behind it may have changed that
        return doubtful(state, undecided_examples(state), stage="deliver")
    return examination(state, tuple(order))


STAGE = Stage(
    name="deliver",
    produces="delivery_report",
    consumes=("intake", "clarify", "spec", "red", "green", "refactor"),
    purpose="commit, branch and report",
    criteria=("the branch holds the verified tree", "every requirement is traced to tests and changed lines"),
    needs_model=needs_no_model,  # everything that the report says was measured
    complete=complete,
    rejected_to="refactor",
    begins_with=(_examined_first,),
    shows_whole_change=True,
)
