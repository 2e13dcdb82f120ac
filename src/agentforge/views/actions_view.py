"""actions.yaml: one entry for every step, in the order in which they were made.

An entry is complete when nothing can change it any more: at the end of its step, or, when the step submitted an
artifact, with the verdict on it. `fold_action` carries the entry in the making from event to event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from agentforge.canonical import digest_value
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.views.run_views import artifact_path, snapshot_path
from agentforge.views.words import cost_usd, seconds

Entry = dict[str, object]

_SUCCESS = {"delivered": "success", "analyzed": "success"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An entry in the making.

    Attributes:
        by: who acted: "model", "harness" or "user".
        submitting: index of the tool call that submits the artifact.
        submitted: the step handed in an artifact, so that a verdict will follow.
        failed: why no reply came.
        interrupted: a process died in this step; another one went on with it.
    """

    step: int
    at: str
    stage: str
    attempt: int
    by: str
    input_hash: str
    context_tokens: int = 0
    llm_call: Mapping[str, object] | None = None
    tools: tuple[Mapping[str, object], ...] = ()
    summary: str = ""
    patch: str | None = None
    submitting: int | None = None
    submitted: bool = False
    finished: bool = False
    failed: str = ""
    interrupted: bool = False
    passed: bool | None = None
    contract: str | None = None
    output_hash: str | None = None


Step = tuple[Draft | None, tuple[Entry, ...]]
"""The entry in the making after an event, and the entries that the event completed."""


def head_value(state: RunState, *, standing: str) -> Entry:
    """All of actions.yaml above the entries.

    Args:
        standing: how the run stands (words.standing); a delivered run is a "success" in the words of the seed.
    """
    ended = bool(state.progress.outcome)
    return {
        "task_id": state.identity.run_id,
        "request": state.brief.request,
        "started_at": seconds(state.progress.started_at),
        "completed_at": seconds(state.progress.last_at) if ended else None,
        "outcome": _SUCCESS.get(standing, standing),
        "total_steps": state.progress.turn.step,
        "total_tokens": state.usage.totals.prompt_tokens + state.usage.totals.completion_tokens,
        "total_cost_usd": cost_usd(state.usage.totals),
    }


def fold_action(draft: Draft | None, event: Event, *, state: RunState) -> Step:
    """Carry the entry in the making over one event.

    Args:
        state: the run's state after the event.
    """
    known = _FOLDS.get(type(event))
    return known(draft, event, state) if known else (draft, ())


def _model_called(draft: Draft | None, event: kinds.ModelCalled, state: RunState) -> Step:
    started = Draft(
        step=event.step,
        at=state.progress.last_at,
        stage=event.stage,
        attempt=event.attempt,
        by="model",
        input_hash=event.request,
        context_tokens=event.context_tokens,
        interrupted=draft is not None and draft.step == event.step and draft.interrupted,
    )
    return started, _entries(draft)


def _run_resumed(draft: Draft | None, event: kinds.RunResumed, _state: RunState) -> Step:
    died_here = draft is not None and draft.step == event.interrupted_step
    return (replace(draft, interrupted=True) if draft is not None and died_here else draft), ()


def _model_replied(draft: Draft | None, event: kinds.ModelReplied, _state: RunState) -> Step:
    if draft is None:
        return None, ()
    call = {
        "model": event.model,
        "prompt_tokens": event.usage.get("prompt_tokens", 0),
        "completion_tokens": event.usage.get("completion_tokens", 0),
        "cached_tokens": event.usage.get("cached_tokens", 0),
        "cost_usd": event.cost_usd,
    }
    return replace(draft, llm_call=call, failed=""), ()


def _model_failed(draft: Draft | None, event: kinds.ModelFailed, _state: RunState) -> Step:
    return (replace(draft, failed=f"{event.slug}: {event.message}") if draft else None), ()


def _tool_started(draft: Draft | None, event: kinds.ToolStarted, _state: RunState) -> Step:
    if draft is None or event.effect != "submit":
        return draft, ()
    return replace(draft, submitting=event.index), ()


def _tool_finished(draft: Draft | None, event: kinds.ToolFinished, _state: RunState) -> Step:
    if draft is None:
        return None, ()
    tool: Entry = {"name": event.name, "status": event.status, "summary": event.summary}
    if event.changed:
        tool["changed"] = sorted(event.changed)
    submitted = draft.submitted or (event.index == draft.submitting and event.status == "success")
    return replace(draft, tools=(*draft.tools, tool), submitted=submitted), ()


def _step_finished(draft: Draft | None, event: kinds.StepFinished, _state: RunState) -> Step:
    if draft is None:
        return None, ()
    finished = replace(draft, finished=True, patch=event.patch, summary=event.summary)
    waiting = finished.submitted and finished.passed is None
    return (finished, ()) if waiting else (None, _entries(finished))


def _artifact_submitted(draft: Draft | None, event: kinds.ArtifactSubmitted, state: RunState) -> Step:
    if draft is not None and event.by == "model":
        return replace(draft, submitted=True), ()
    by_itself = Draft(
        step=event.step or state.progress.turn.step,  # 0: a log of 0.1
        at=state.progress.last_at,
        stage=event.stage,
        attempt=event.attempt,
        by=event.by,
        input_hash=digest_value(event.draft),
        submitted=True,
        finished=True,
    )
    return by_itself, _entries(draft)


def _stage_verified(draft: Draft | None, event: kinds.StageVerified, _state: RunState) -> Step:
    if draft is None or not draft.submitted:
        return draft, ()
    output = event.artifact_digest if event.passed else None
    judged = replace(draft, passed=event.passed, contract=event.contract, output_hash=output)
    return (None, _entries(judged)) if judged.finished else (judged, ())


def _stage_started(draft: Draft | None, _event: Event, _state: RunState) -> Step:
    return None, _entries(draft)


def _escalation_raised(draft: Draft | None, _event: Event, _state: RunState) -> Step:
    """A step that asks a human goes on after the answer; a finished or failed one does not."""
    if draft is not None and (draft.finished or draft.failed):
        return None, _entries(draft)
    return draft, ()


_FOLDS = cast(
    "dict[type[Event], Callable[[Draft | None, Event, RunState], Step]]",
    {
        kinds.RunResumed: _run_resumed,
        kinds.ModelCalled: _model_called,
        kinds.ModelReplied: _model_replied,
        kinds.ModelFailed: _model_failed,
        kinds.ToolStarted: _tool_started,
        kinds.ToolFinished: _tool_finished,
        kinds.StepFinished: _step_finished,
        kinds.ArtifactSubmitted: _artifact_submitted,
        kinds.StageVerified: _stage_verified,
        kinds.StageStarted: _stage_started,
        kinds.EscalationRaised: _escalation_raised,
        kinds.RunFinished: _stage_started,
    },
)


def _entries(draft: Draft | None) -> tuple[Entry, ...]:
    """The entry of a draft that came to something; a call that was only begun leaves none, it is asked again."""
    if draft is None or not (draft.finished or draft.failed or draft.llm_call is not None):
        return ()
    return (_entry(draft),)


def _entry(draft: Draft) -> Entry:
    verified = draft.output_hash is not None
    return {
        "step": draft.step,
        **({"interrupted": True} if draft.interrupted else {}),
        "timestamp": seconds(draft.at),
        "phase": draft.stage,
        "attempt": draft.attempt,
        "by": draft.by,
        "context_tokens": draft.context_tokens,
        "action": {"type": _action_type(draft), "input_hash": draft.input_hash},
        "result": {
            "status": _status(draft),
            "output_artifact": artifact_path(draft.stage) if verified else _patch_path(draft),
            "output_hash": draft.output_hash if verified else draft.patch,
        },
        "verification": {"passed": draft.passed, "contract": draft.contract},
        "llm_call": draft.llm_call,
        "summary": draft.failed or draft.summary,
        "tools": list(draft.tools),
    }


def _patch_path(draft: Draft) -> str | None:
    return snapshot_path(draft.step) if draft.patch else None


def _action_type(draft: Draft) -> str:
    """The last tool of the step stands for it; a step of the harness hands in an artifact."""
    if draft.tools:
        return str(draft.tools[-1]["name"])
    if draft.failed:
        return "model_call"
    return "reply" if draft.by == "model" else "submit_artifact"


def _status(draft: Draft) -> str:
    if draft.failed:
        return "error"
    return str(draft.tools[-1]["status"]) if draft.tools else "success"
