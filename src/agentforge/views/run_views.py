"""state.yaml: where the run stands now.

task.yaml: what the run is for. Goal, criteria and constraints stand there as soon as a verified artifact holds them.

working_memory.yaml: the few last things that the next context may show.

An escalation as a file: what is asked, why, and how to answer.

The artifacts folder: where each stage's verified artifact stands and what original_request.yaml holds.

Independent attempts of a run as people read them: each with what was measured, and which one goes on. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from agentforge.contracts.contract import FIX_STAGE_OF, STAGE_OF
from agentforge.events.fold.verification import refusals
from agentforge.events.kinds import Json
from agentforge.events.state.attempt import FinishedStep, StageState
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.views.words import answers_for, cost_usd, rows_of, seconds, standing


def state_value(state: RunState, *, interrupted: bool, records: int, head: str) -> dict[str, object]:
    """The value of state.yaml.

    Args:
        interrupted: the last thing recorded is that the driving process stopped.
        records: length of the log that this view shows.
        head: hash of its last record.
    """
    return {
        "task_id": state.identity.run_id,
        "status": standing(state, interrupted=interrupted),
        "phase": state.progress.stage or None,
        "attempt": state.progress.stages[state.progress.stage].attempt
        if state.progress.stage in state.progress.stages
        else None,
        "step": state.progress.turn.step,
        "started_at": seconds(state.progress.started_at),
        "updated_at": seconds(state.progress.last_at),
        "active_s": round(state.progress.active_s, 1),
        "phases": {name: _stage_value(stage) for name, stage in state.progress.stages.items()},
        "totals": totals_value(state),
        "verification_status": verification_value(state),
        "escalations": [item.escalation_id for item in state.people.open_escalations],
        "delivered": dict(state.work.delivered) if state.work.delivered else None,
        "error": dict(state.progress.error) if state.progress.error else None,
        "trail": {"records": records, "head": head},
        **({"forks": list(state.relations.forks)} if state.relations.forks else {}),
        **({"marks": list(state.people.marks)} if state.people.marks else {}),
        **attempts_of(state),
    }


def totals_value(state: RunState) -> dict[str, object]:
    """Sums over the run; the cost is None when unknown."""
    totals = asdict(state.usage.totals)
    del totals["cost_known"]
    return {**totals, "cost_usd": cost_usd(state.usage.totals)}


def verification_value(state: RunState) -> dict[str, object]:
    """How many rules of the current stage's last verdict hold; after the last stage, of all stages."""
    results = state.progress.stages.get(state.progress.stage, StageState()).results
    if state.progress.outcome:
        results = tuple(result for stage in state.progress.stages.values() for result in stage.results)
    return {
        "checks_passing": sum(1 for result in results if result.get("passed")),
        "checks_failing": len(refusals(results)),
        "ready_for_completion": state.work.delivered is not None
        or (state.review.verdict is not None and state.review.verdict.passed),
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


def attempts_of(state: RunState) -> dict[str, object]:
    """Tell the independent attempts of a run as {attempts: ...}; {} for a run that has none."""
    return {"attempts": attempts_value(state)} if state.relations.attempts else {}


def task_value(state: RunState) -> dict[str, object]:
    """The value of task.yaml."""
    spec = state.work.artifacts.get("spec", {})
    return {
        "id": state.identity.run_id,
        "goal": _goal(state),
        "success_criteria": _criteria(spec),
        "constraints": _descriptions(spec.get("constraints")),
        "request": state.brief.request,
        "created_at": seconds(state.progress.started_at),
        "kind": state.identity.kind,
        "mode": state.brief.mode,
        "approve": list(state.brief.approve),
        "model": state.brief.model,
        "repo": state.identity.repo,
        "base_commit": state.identity.base_commit,
        "base_ref": state.identity.base_ref,
        "branch": state.identity.branch,
        "worktree": state.identity.worktree,
        "tests": list(state.brief.tests),
        "apply": state.brief.apply,
        "parent": state.identity.parent,
        "limits": asdict(state.brief.limits),
        "digests": dict(state.identity.digests),
        "versions": dict(state.identity.versions),
    }


def _goal(state: RunState) -> str:
    goal = state.work.artifacts.get("intake", {}).get("goal")
    if isinstance(goal, str) and goal:
        return goal
    lines = state.brief.request.strip().splitlines()
    return lines[0].strip() if lines else ""


def _criteria(spec: Mapping[str, object]) -> list[str]:
    """Every acceptance criterion of the specification, in its order."""
    requirements = spec.get("requirements")
    if not isinstance(requirements, list):
        return []
    criteria: list[str] = []
    for requirement in requirements:
        listed = requirement.get("acceptance_criteria") if isinstance(requirement, dict) else None
        criteria += [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
    return criteria


def _descriptions(entries: object) -> list[str]:
    """The texts of a list of strings or of records with a `description`."""
    if not isinstance(entries, list):
        return []
    texts = [entry.get("description") if isinstance(entry, dict) else entry for entry in entries]
    return [text for text in texts if isinstance(text, str)]


def memory_value(state: RunState) -> dict[str, object]:
    """The value of working_memory.yaml; bounded whatever the run's length."""
    return {
        "task_id": state.identity.run_id,
        "phase": state.progress.stage or None,
        "attempt": state.progress.stages.get(state.progress.stage, StageState()).attempt,
        "updated_at": seconds(state.progress.last_at),
        "recent_actions": [_step_value(step) for step in state.progress.turn.recent],
        "files_in_view": [{"path": path, **view} for path, view in state.progress.turn.views],
        "findings": [_finding_value(item) for item in state.review.findings],
        "answers": list(state.people.answers),
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


ORIGINAL_REQUEST = "artifacts/inputs/original_request.yaml"

_NAMES = {stage: contract for contract, stage in (*FIX_STAGE_OF.items(), *STAGE_OF.items())}

_FIRST = ("title", "name", "path", "file", "line", "question", "goal", "original_request", "description")
_LAST = ("verification", "metadata")


def artifact_path(stage: str) -> str:
    """Where the verified artifact of `stage` stands in the run's folder; a stage of a plug-in uses its own name."""
    return f"artifacts/phases/{stage}/{_NAMES.get(stage, stage)}.yaml"


def artifact_value(artifact: Json) -> dict[str, object]:
    """An accepted artifact with its keys in a readable order (records keep them sorted): names first, verification last."""
    return {key: _readable(artifact[key]) for key in sorted(artifact, key=_reading_order)}


def snapshot_path(step: int) -> str:
    """Where the patch of `step` stands in the run's folder."""
    return f"artifacts/snapshots/step_{step:03d}.patch"


def original_request_value(state: RunState) -> dict[str, object]:
    """The value of original_request.yaml: what came in, word for word."""
    return {
        "original_request": state.brief.request,
        "received_at": seconds(state.progress.started_at),
        "repo": state.identity.repo,
        "base_commit": state.identity.base_commit,
        "tests": list(state.brief.tests),
    }


def _readable(value: object) -> object:
    if isinstance(value, Mapping):
        return artifact_value(value)
    return [_readable(item) for item in value] if isinstance(value, (list, tuple)) else value


def _reading_order(key: str) -> tuple[int, str]:
    if key == "id" or key.endswith("_id"):
        return 0, key
    if key in _FIRST:
        return 1 + _FIRST.index(key), key
    return len(_FIRST) + (2 if key in _LAST else 1), key


def attempts_value(state: RunState) -> dict[str, object]:
    """{stage, rows: [{number, child, passed, chosen, reason, score, lines, used}], reason}; {} when there are none."""
    if not state.relations.attempts:
        return {}
    chosen = state.relations.attempts.get("chosen")
    number = chosen.get("number") if isinstance(chosen, Mapping) else None
    reason = chosen.get("reason") if isinstance(chosen, Mapping) else ""
    rows = [{**row, "chosen": row.get("number") == number} for row in rows_of(state.relations.attempts.get("rows"))]
    return {"stage": state.relations.attempts.get("stage"), "rows": rows, "reason": reason}


def attempt_lines(state: RunState) -> list[str]:
    """One line for each attempt, the chosen one with why."""
    value = attempts_value(state)
    lines = []
    for row in rows_of(value.get("rows")):
        score = row.get("score")
        shown = f"mutation score {score:.2f}, " if isinstance(score, (int, float)) else ""
        told = (
            f"passes all rules, {shown}{row.get('lines')} changed lines"
            if row.get("passed")
            else f"{row.get('reason')}"
        )
        mark = f"; chosen: {value.get('reason')}" if row.get("chosen") else ""
        lines.append(f"attempt {row.get('number')} ({row.get('child')}): {told}{mark}")
    return lines
