"""state.yaml: where the run stands now. Source: seed 001 section 3.3."""

from __future__ import annotations

from dataclasses import asdict

from agentforge.events.fold.verification import refusals
from agentforge.events.state.run_state import RunState, StageState
from agentforge.views.attempts_view import attempts_value
from agentforge.views.words import cost_usd, seconds, standing


def state_value(state: RunState, *, interrupted: bool, records: int, head: str) -> dict[str, object]:
    """The value of state.yaml.

    Args:
        interrupted: the last thing recorded is that the driving process stopped.
        records: length of the log that this view shows.
        head: hash of its last record.
    """
    return {
        "task_id": state.run_id,
        "status": standing(state, interrupted=interrupted),
        "phase": state.stage or None,
        "attempt": state.stages[state.stage].attempt if state.stage in state.stages else None,
        "step": state.turn.step,
        "started_at": seconds(state.started_at),
        "updated_at": seconds(state.last_at),
        "active_s": round(state.active_s, 1),
        "phases": {name: _stage_value(stage) for name, stage in state.stages.items()},
        "totals": totals_value(state),
        "verification_status": verification_value(state),
        "escalations": [item.escalation_id for item in state.open_escalations],
        "delivered": dict(state.delivered) if state.delivered else None,
        "error": dict(state.error) if state.error else None,
        "trail": {"records": records, "head": head},
        **({"forks": list(state.forks)} if state.forks else {}),
        **({"marks": list(state.marks)} if state.marks else {}),
        **_attempts(state),
    }


def totals_value(state: RunState) -> dict[str, object]:
    """Sums over the run; the cost is None when unknown."""
    totals = asdict(state.totals)
    del totals["cost_known"]
    return {**totals, "cost_usd": cost_usd(state.totals)}


def verification_value(state: RunState) -> dict[str, object]:
    """How many rules of the current stage's last verdict hold; after the last stage, of all stages."""
    results = state.stages.get(state.stage, StageState()).results
    if state.outcome:
        results = tuple(result for stage in state.stages.values() for result in stage.results)
    return {
        "checks_passing": sum(1 for result in results if result.get("passed")),
        "checks_failing": len(refusals(results)),
        "ready_for_completion": state.delivered is not None or (state.verdict is not None and state.verdict.passed),
    }


def _stage_value(stage: StageState) -> dict[str, object]:
    value: dict[str, object] = {
        "status": stage.status,
        "attempts": stage.attempt,
        "steps": stage.steps,
        "tokens": stage.prompt_tokens + stage.completion_tokens,
    }
    if stage.artifact_digest:
        value["artifact_hash"] = stage.artifact_digest
    if stage.reason:
        value["reason"] = stage.reason
    return value


def _attempts(state: RunState) -> dict[str, object]:
    """The independent attempts of a run that has some."""
    if not state.attempts:
        return {}

    return {"attempts": attempts_value(state)}
