"""One line about a run, for listings: cheap to write, cheap to read, no YAML.

How far a run is on its way to a delivery, in percent. Pure.
"""

from __future__ import annotations

from dataclasses import asdict

from agentforge.events.state.run_state import RunState
from agentforge.views.words import cost_usd

_REQUEST_SHOWN = 200


def summary_value(state: RunState) -> dict[str, object]:
    """What a listing shows of a run, as a plain JSON value."""
    return {
        "task_id": state.identity.run_id,
        "request": state.brief.request[:_REQUEST_SHOWN],
        "outcome": state.progress.outcome,
        "stage": state.progress.stage,
        "branch": state.identity.branch,
        "started_at": state.progress.started_at,
        "last_at": state.progress.last_at,
        "steps": state.usage.totals.steps,
        "prompt_tokens": state.usage.totals.prompt_tokens,
        "completion_tokens": state.usage.totals.completion_tokens,
        "cost_usd": cost_usd(state.usage.totals),
        "open_escalations": [item.escalation_id for item in state.people.open_escalations],
        "waits_for": list(state.relations.waits_for),
        "progress": progress(state),
        "parts": [{"repo": name, **row} for name, row in state.relations.parts.items()],
        "kind": state.identity.kind,
        "parent": state.identity.parent,
        "ended_at": state.progress.ended_at,
        "verdicts": [state.review.verdicts_passed, state.review.verdicts],
        "escalations": [[item.kind, item.raised_at, item.resolved_at] for item in state.people.escalations.values()],
        "marks": [str(item["mark"]) for item in state.people.marks],
        "spending": [asdict(spent) for spent in state.usage.spending.values()],
        "inherited": [asdict(spent) for spent in state.usage.inherited.values()],
    }


_WITHIN = {
    "intake": 5,
    "clarify": 10,
    "analyze": 15,
    "spec": 25,
    "red": 40,
    "green": 60,
    "refactor": 85,
    "deliver": 95,
    "plan": 50,
    "guard": 20,
    "change": 50,
    "verify": 80,
}
"""What is behind a run that works in a stage: shares of the steps that stages usually need."""


def progress(state: RunState) -> int:
    """The share of the way that lies behind the run; 100 is kept for a run that is over in good order."""
    if state.progress.outcome in ("delivered", "analyzed"):
        return 100
    reached = [name for name, stage in state.progress.stages.items() if stage.status != "skipped"]
    return max((_WITHIN.get(name, 0) for name in reached), default=0)
