"""What a run came to: the machine-readable result and the exit code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agentforge import errors
from agentforge.app.tasks.parts import parts_of
from agentforge.events.fold.delivered import judged
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.frozen import dataclass
from agentforge.views.run_views import attempts_of
from agentforge.views.summary_view import progress
from agentforge.views.words import choice_values

_BROKEN_OFF_EXIT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """A run as a command leaves it.

    Attributes:
        folder: of the run.
        duration_s: wall seconds of this command, not of the whole run.
        error: the error that stopped this process, None when it ended by itself.
        running: another process drives the run.
        pull: what became of its pull request, None when none was asked for.
    """

    state: RunState
    folder: Path
    head: str = ""
    records: int = 0
    duration_s: float = 0.0
    error: errors.AgentForgeError | None = None
    running: bool = False
    pull: Mapping[str, object] | None = None


def outcome_of(state: RunState, *, running: bool = False) -> str:
    """delivered | analyzed | escalated | waiting | paused | failed | aborted | running."""
    if state.progress.outcome:
        return state.progress.outcome
    waiting = state.people.open_escalations
    if waiting:
        return "paused" if all(item.kind == "limit" for item in waiting) else "escalated"
    return "running" if running else "waiting" if state.relations.waits_for else "paused"


def exit_code(result: RunResult) -> int:
    """The exit code of protocols.md for where the run stands."""
    outcome = outcome_of(result.state)
    if outcome in ("delivered", "analyzed"):
        failed = result.state.relations.pull.get("wanted") or isinstance(result.error, errors.StorageError)
        return result.error.exit_code if failed and result.error is not None else errors.EXIT_DONE
    if outcome == "waiting" and result.error is None:
        return errors.EXIT_WAITING
    if outcome == "escalated":
        return errors.EXIT_WAITING
    if result.error is not None:
        return result.error.exit_code
    if result.state.people.open_escalations:
        return errors.LimitReached.exit_code
    return _BROKEN_OFF_EXIT


def result_value(result: RunResult) -> dict[str, object]:
    """The JSON object with which `start`, `resume` and `status` end."""
    state = result.state
    totals = state.usage.totals
    delivered = state.work.delivered or {}
    return {
        "task_id": state.identity.run_id,
        "request": state.brief.request,
        "repo": state.identity.repo,
        "outcome": outcome_of(state, running=result.running),
        "stage": state.progress.stage or _last_stage(state),
        "stages": [_stage_row(name, state) for name in state.progress.stages],
        "branch": delivered.get("branch"),
        "commit": delivered.get("commit"),
        "base_commit": state.identity.base_commit,
        "steps": totals.steps,
        "llm_calls": totals.llm_calls,
        "prompt_tokens": totals.prompt_tokens,
        "cached_tokens": totals.cached_tokens,
        "completion_tokens": totals.completion_tokens,
        "max_step_prompt_tokens": totals.max_step_prompt_tokens,
        "cost_usd": round(totals.cost_usd, 6) if totals.cost_known else None,
        "duration_s": round(state.progress.active_s, 3),
        "escalations": [
            escalation_row(item, task_id=state.identity.run_id) for item in state.people.escalations.values()
        ],
        "asks": _asks(state),
        "awaited": {key: dict(seen) for key, seen in state.relations.awaited.items()},
        "progress": progress(state),
        "permission_denials": [dict(denial) for denial in state.people.denials],
        "verification": _verification(state),
        "untested": str(state.work.artifacts.get("deliver", {}).get("untested_line") or ""),
        "trail": {"head": result.head, "records": result.records},
        "plan": state.identity.digests.get("plan"),
        "parts": _parts(state),
        "parent": state.identity.parent,
        "forks": list(state.relations.forks),
        "marks": list(state.people.marks),
        "pull_request": dict(result.pull) if result.pull is not None else None,
        **attempts_of(state),
        **({"analysis": dict(state.work.artifacts.get("analyze", {}))} if state.progress.outcome == "analyzed" else {}),
        "folder": str(result.folder),
        "error": _error(result),
    }


def _asks(state: RunState) -> list[dict[str, object]]:
    """The request's ledger: what became of each ask, its tests, the lines that they executed."""
    if state.identity.kind != "task" or "spec" not in state.work.artifacts:
        return []
    from agentforge.pipeline.ledger.shown import asks_traced

    return asks_traced(state, judged(state.work.facts, {}))


def escalation_row(item: Escalation, *, task_id: str) -> dict[str, object]:
    """An escalation as listings show it, with what can be answered as long as it is open."""
    resolution = item.resolution
    return {
        **item.told,
        "options": list(item.options),
        "choices": choice_values(item, task_id=task_id) if resolution is None else [],
        "shown": item.shown,
        "status": "pending" if resolution is None else "resolved",
        "decision": resolution.decision if resolution else None,
        "answer": resolution.text if resolution else None,
        "raised_at": item.raised_at,
    }


def _stage_row(name: str, state: RunState) -> dict[str, object]:
    stage = state.progress.stages[name]
    return {
        "name": name,
        "status": stage.status,
        "attempts": stage.attempt,
        "steps": stage.steps,
        "tokens": stage.prompt_tokens + stage.completion_tokens,
        "verified": stage.status == "verified",
    }


def _parts(state: RunState) -> list[dict[str, object]]:
    """The tasks that a plan became, as they stand now."""
    if not state.relations.parts:
        return []

    return [
        {
            "repo": part.repo,
            "part": part.name,
            "task_id": part.task_id,
            "folder": str(part.row.folder),
            "outcome": part.row.outcome,
            "stage": part.row.stage,
            "progress": part.row.progress,
            "branch": part.row.branch,
            "waits_for": list(part.row.waits_for),
        }
        for part in parts_of(state)
    ]


def _verification(state: RunState) -> dict[str, object]:
    """Per stage and rule: passed and what was measured."""
    out: dict[str, object] = {}
    for name, stage in state.progress.stages.items():
        for row in stage.results:
            out[f"{name}: {row.get('rule')}"] = {"passed": row.get("passed"), "measured": row.get("measured")}
    return out


def _last_stage(state: RunState) -> str:
    reached = [name for name, stage in state.progress.stages.items() if stage.status != "skipped"]
    return reached[-1] if reached else ""


def _error(result: RunResult) -> Mapping[str, object] | None:
    if result.error is not None:
        return {"slug": result.error.slug, "message": result.error.message, "hint": result.error.hint}
    return result.state.progress.error if result.state.progress.outcome else None
