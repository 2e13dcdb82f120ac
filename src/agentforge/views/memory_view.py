"""working_memory.yaml: the few last things that the next context may show. Source: seed 001 sections 3.3 and 3.4."""

from __future__ import annotations

from agentforge.events.state.run_state import FinishedStep, RunState, StageState
from agentforge.views.words import seconds


def memory_value(state: RunState) -> dict[str, object]:
    """The value of working_memory.yaml; bounded whatever the run's length."""
    return {
        "task_id": state.run_id,
        "phase": state.stage or None,
        "attempt": state.stages.get(state.stage, StageState()).attempt,
        "updated_at": seconds(state.last_at),
        "recent_actions": [_step_value(step) for step in state.turn.recent],
        "files_in_view": [{"path": path, **view} for path, view in state.turn.views],
        "findings": [_finding_value(item) for item in state.findings],
        "answers": list(state.answers),
    }


def _step_value(step: FinishedStep) -> dict[str, object]:
    last = step.results[-1] if step.results else None
    return {
        "step": step.step,
        "action": last.name if last else "reply",
        "result": last.status if last else "success",
        "summary": "; ".join(f"{item.name}: {item.summary}" for item in step.results) or step.said[:200],
    }


def _finding_value(finding: object) -> dict[str, object]:
    known = finding if isinstance(finding, dict) else {}
    return {key: known.get(key) for key in ("rule", "path", "message")}
