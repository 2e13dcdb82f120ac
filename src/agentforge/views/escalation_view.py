"""An escalation as a file: what is asked, why, and how to answer. Source: seed 001 section 4.4."""

from __future__ import annotations

from agentforge.events.state.run_state import Escalation
from agentforge.views.answering import answers_for
from agentforge.views.words import seconds


def address(run_id: str, escalation_id: str) -> str:
    """The name of an escalation outside its task."""
    return f"{run_id}.{escalation_id}"


def escalation_value(item: Escalation, *, run_id: str) -> dict[str, object]:
    """The value of an escalation file."""
    name = address(run_id, item.escalation_id)
    return {
        "escalation_id": name,
        "task_id": run_id,
        "stage": item.stage or None,
        "kind": item.kind,
        "status": "pending" if item.resolution is None else "resolved",
        "created_at": seconds(item.raised_at),
        "reason": item.reason,
        "question": item.question,
        "options": list(item.options),
        "context": dict(item.context),
        "resolution": _resolution_value(item),
        "resolve_with": answers_for(item, task_id=run_id) if item.resolution is None else [],
    }


def _resolution_value(item: Escalation) -> dict[str, object] | None:
    if item.resolution is None:
        return None
    return {
        "decision": item.resolution.decision,
        "text": item.resolution.text,
        "resolved_by": item.resolution.by,
        "resolved_at": seconds(item.resolved_at),
    }
