"""An example of the request that held at the base and holds no more: a report of today, or a promise that is broken? Pure.

The request's own words decide where they say it; where they only state the result, a human does.
"""

from __future__ import annotations

from dataclasses import replace

from agentforge.events.kinds.choices import fixed
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.pipeline.ledger.entries import ledger_of
from agentforge.pipeline.model.effects import Ask
from agentforge.pipeline.model.rollback import reopens
from agentforge.pipeline.model.stage import Json, items

WRONG_TODAY, STAYS = "it is what is wrong today", "it must stay"
_KEY = "stated"


def doubtful(state: RunState) -> Ask | None:
    """Ask about the examples that nobody decided about; None where there are none, or the run has no ledger."""
    if not ledger_of(state):
        return None
    held_out = state.facts.get("green", {}).get("held_out")
    rows = items(held_out.get("complaints")) if isinstance(held_out, dict) else []
    wanted = [_question(row) for row in rows if not answered(state, str(row.get("call")))]
    return replace(wanted[0], also=tuple(wanted[1:])) if wanted else None


def answered(state: RunState, call: str) -> str:
    """What a human said of the example with this call; "" where nobody was asked."""
    found: list[Escalation] = [one for one in state.escalations.values() if one.context.get(_KEY) == call]
    return found[-1].resolution.text if found and found[-1].resolution is not None else ""


def _question(row: Json) -> Ask:
    call = str(row.get("call"))
    return Ask(
        stage="green",
        kind="question",
        reason="an example of the request held before the change and does not hold any more",
        question=f"The request says: {row.get('text')}. Before the change it was so. Which is meant?",
        context=(("key", f"{_KEY}:{call}"), (_KEY, call), reopens("green", unless=WRONG_TODAY)),
        choices=(
            fixed(WRONG_TODAY, "The run goes on; the report names both results."),
            fixed(STAYS, "The implementation is written again, and the example decides."),
        ),
    )
