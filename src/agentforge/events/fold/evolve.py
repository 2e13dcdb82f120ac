"""evolve(state, event) -> state: what each event means. Pure and total: a log is folded with nothing else at hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from agentforge.events import kinds
from agentforge.events.fold.behind import calls_kept, calls_taken
from agentforge.events.fold.delivered import attested, delivered
from agentforge.events.fold.escalations import escalation_raised, escalation_resolved
from agentforge.events.fold.relations import (
    child_finished,
    fork_made,
    history_compacted,
    run_forked,
    run_marked,
    session_changed,
    turn_finished,
    user_ran,
    user_said,
    user_steered,
)
from agentforge.events.fold.revisits import draft_kept, reopening_ended, stage_reopened
from agentforge.events.fold.usage import gap_s, limits_from, spent_lately, spent_with
from agentforge.events.fold.verification import (
    artifact_submitted,
    examined,
    facts_gathered,
    stage_verified,
    submission_held,
)
from agentforge.events.fold.workspace_view import (
    REPOSITORY,
    alone_after,
    seen_after,
    source_of,
    views_with,
    with_source,
    written_after,
)
from agentforge.events.kinds import Event
from agentforge.events.kinds.candidates import attempt_chosen, attempt_finished, attempts_started
from agentforge.events.kinds.dependencies import looked_at_again, part_started, task_arrived, task_awaited
from agentforge.events.state.attempt import LOOP_WINDOW, RECENT_STEPS, Call, FinishedStep, StageState, Turn
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk_fold import heard


def evolve(state: RunState, event: Event, *, at: str) -> RunState:
    """Fold one event into the state.

    Args:
        at: the record's time stamp, ISO 8601 in UTC.
    """
    known = _EVOLVERS.get(type(event))
    after = known(state, event, at) if known else state
    progress = replace(after.progress, last_at=at, active_s=state.progress.active_s + gap_s(state, event, at))
    if after.identity.kind == "task":
        return replace(after, progress=progress)
    return replace(after, progress=progress, talk=heard(state, event, at))


def _denial(event: kinds.ToolFinished) -> tuple[kinds.Json, ...]:
    """One entry {step, tool, reason} for a call that the policy or a hook refused, else none."""
    if event.error_type not in ("not-approved", "hook"):
        return ()
    return ({"step": event.step, "tool": event.name, "reason": event.summary},)


def _stage(state: RunState, name: str, **changes: object) -> dict[str, StageState]:
    current = state.progress.stages.get(name, StageState())
    return {**state.progress.stages, name: replace(current, **changes)}  # type: ignore[arg-type] # checked by the tests


def _run_started(state: RunState, event: kinds.RunStarted, at: str) -> RunState:
    return replace(
        state,
        identity=replace(
            state.identity,
            run_id=event.run_id,
            kind=event.kind,
            repo=event.repo,
            base_commit=event.base_commit,
            base_ref=event.base_ref,
            worktree=event.worktree,
            branch=event.branch,
            digests=event.digests,
            versions=event.versions,
            parent=event.parent,
        ),
        brief=replace(
            state.brief,
            request=event.request,
            mode=event.mode,
            approve=event.approve,
            model=event.model,
            limits=limits_from(event.limits),
            tests=event.tests,
            apply=event.apply,
            left_out=event.left_out,
            workflow=event.workflow,
            violations=event.violations,
            profile=event.profile,
            candidates=event.candidates,
            candidates_from=event.candidates_from,
            grade=event.grade,
            added=event.added,
            examiner=event.examiner,
            refactoring=event.refactoring,
        ),
        relations=replace(state.relations, after=event.after, pull=event.pull),
        progress=replace(state.progress, untrusted=("review",) if event.pull.get("follows") else (), started_at=at),
    )


def _run_resumed(state: RunState, event: kinds.RunResumed, _at: str) -> RunState:
    repo, worktree = event.repo or state.identity.repo, event.worktree or state.identity.worktree
    limits, awaited = limits_from(event.limits, state.brief.limits), looked_at_again(state.relations.awaited)
    added = event.added or state.brief.added
    return replace(
        state,
        brief=replace(state.brief, limits=limits, added=added),
        identity=replace(state.identity, repo=repo, worktree=worktree),
        relations=replace(state.relations, awaited=awaited),
    )


def _stage_started(state: RunState, event: kinds.StageStarted, _at: str) -> RunState:
    again = state.progress.stage == event.stage or event.attempt > 1
    known = state.progress.stages.get(event.stage, StageState())
    told = not state.progress.stage and known.status == "running"  # asked before it began
    first = event.attempt == known.since + 1
    old = state.progress.turn
    turn = Turn(step=old.step, material=event.material)
    if again or not state.progress.stage:  # between stages there is what the last one read for the next
        turn = replace(turn, recent=old.recent, views=old.views, alone=old.alone)
    return replace(
        state,
        progress=replace(
            state.progress,
            stage=event.stage,
            stages=_stage(state, event.stage, status="running", attempt=event.attempt),
            turn=turn,
            untrusted=with_source(state.progress.untrusted, REPOSITORY if event.material else ""),
        ),
        review=replace(
            state.review,
            submission=None,
            verdict=None,
            findings=state.review.findings if again else (),
            rejected=draft_kept(state, event.stage) if first else state.review.rejected if again else None,
            held=state.review.held and again and not first,
        ),
        people=state.people if again or told else replace(state.people, answers=(), unread=()),
        work=replace(state.work, trees={**state.work.trees, "work": event.tree} if event.tree else state.work.trees),
    )


def _stage_skipped(state: RunState, event: kinds.StageSkipped, _at: str) -> RunState:
    return replace(
        state,
        progress=replace(state.progress, stages=_stage(state, event.stage, status="skipped", reason=event.reason)),
    )


def _model_called(state: RunState, event: kinds.ModelCalled, _at: str) -> RunState:
    repeated = event.step == state.progress.turn.step
    stage = state.progress.stages.get(event.stage, StageState())
    totals = replace(
        state.usage.totals,
        steps=state.usage.totals.steps + (0 if repeated else 1),
        max_step_prompt_tokens=max(state.usage.totals.max_step_prompt_tokens, event.context_tokens),
    )
    turn = replace(
        state.progress.turn,
        step=event.step,
        calling=True,
        replied=False,
        said="",
        calls=(),
        done=0,
        started=False,
        started_event=None,
        results=(),
        seen=event.seen,
        steps_in_attempt=state.progress.turn.steps_in_attempt + (0 if repeated else 1),
    )
    stages = _stage(state, event.stage, steps=stage.steps + (0 if repeated else 1))
    return replace(
        state, usage=replace(state.usage, totals=totals), progress=replace(state.progress, turn=turn, stages=stages)
    )


def _model_replied(state: RunState, event: kinds.ModelReplied, at: str) -> RunState:
    usage = {key: int(cast("int", value)) for key, value in event.usage.items()}
    prompt, completion = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    old, stage = state.usage.totals, state.progress.stages.get(state.progress.stage, StageState())
    cost = event.cost_usd or 0.0
    totals = replace(
        old,
        llm_calls=old.llm_calls + 1,
        requests=old.requests + event.requests,
        prompt_tokens=old.prompt_tokens + prompt,
        cached_tokens=old.cached_tokens + usage.get("cached_tokens", 0),
        completion_tokens=old.completion_tokens + completion,
        max_step_prompt_tokens=max(old.max_step_prompt_tokens, prompt),
        cost_usd=old.cost_usd + cost,
        cost_known=old.cost_known and event.cost_usd is not None,
    )
    calls = tuple(
        Call(call_id=str(call["call_id"]), name=str(call["name"]), arguments=str(call["arguments"]))
        for call in event.tool_calls
    )
    turn = replace(
        state.progress.turn,
        calling=False,
        replied=True,
        said=event.text,
        finish=event.finish,
        calls=calls,
        done=0,
        started=False,
        results=(),
        silent_steps=0 if calls else state.progress.turn.silent_steps + 1,
    )
    stages = _stage(
        state,
        state.progress.stage,
        prompt_tokens=stage.prompt_tokens + prompt,
        completion_tokens=stage.completion_tokens + completion,
        cost_usd=stage.cost_usd + cost,
    )
    lately = spent_lately(state.usage.lately, at=at, tokens=prompt + completion, usd=cost)
    spending = spent_with(state, event, usage)
    return replace(
        state,
        usage=replace(state.usage, totals=totals, spending=spending, lately=lately),
        progress=replace(state.progress, turn=turn, stages=stages),
        people=replace(state.people, unread=()),
    )


def _model_failed(state: RunState, event: kinds.ModelFailed, _at: str) -> RunState:
    turn = replace(state.progress.turn, calling=False)
    totals = replace(state.usage.totals, requests=state.usage.totals.requests + event.requests)
    error = {"slug": event.slug, "message": event.message}
    return replace(
        state, progress=replace(state.progress, turn=turn, error=error), usage=replace(state.usage, totals=totals)
    )


def _tool_started(state: RunState, event: kinds.ToolStarted, _at: str) -> RunState:
    intent = {
        "name": event.name,
        "effect": event.effect,
        "touches": event.touches,
        "tree": event.tree,
        "arguments": event.arguments,
    }
    return replace(
        state, progress=replace(state.progress, turn=replace(state.progress.turn, started=True, started_event=intent))
    )


def _tool_finished(state: RunState, event: kinds.ToolFinished, _at: str) -> RunState:
    turn = state.progress.turn
    return replace(
        state,
        progress=replace(
            state.progress,
            turn=replace(
                turn,
                done=event.index + 1,
                started=False,
                started_event=None,
                results=(*turn.results, event),
                views=views_with(turn.views, event.view),
                seen=seen_after(turn, event),
                loop=(*turn.loop, event.result)[-LOOP_WINDOW:],
                written=written_after(turn, event),
                alone=alone_after(turn, event),
            ),
            untrusted=with_source(state.progress.untrusted, source_of(event.name) if event.text else ""),
        ),
        usage=replace(state.usage, totals=replace(state.usage.totals, tool_calls=state.usage.totals.tool_calls + 1)),
        people=replace(state.people, denials=(*state.people.denials, *_denial(event))),
        review=submission_held(state.review, event.held) if event.held else state.review,
    )


def _step_finished(state: RunState, event: kinds.StepFinished, _at: str) -> RunState:
    turn = state.progress.turn
    finished = FinishedStep(step=event.step, said=turn.said, results=turn.results)
    turn = replace(
        turn, replied=False, said="", calls=(), done=0, results=(), recent=(*turn.recent, finished)[-RECENT_STEPS:]
    )
    trees = {**state.work.trees, "work": event.tree} if event.tree else state.work.trees
    return replace(state, progress=replace(state.progress, turn=turn), work=replace(state.work, trees=trees))


def _stage_passed(state: RunState, event: kinds.StagePassed, _at: str) -> RunState:
    artifact = state.review.verdict.artifact if state.review.verdict else {}
    reopened, turn = state.review.reopened, state.progress.turn
    if reopened is not None and reopened.stage == event.stage:
        reopened = replace(reopened, open=False)
    return replace(
        state,
        progress=replace(
            state.progress,
            stages=_stage(state, event.stage, status="verified", artifact_digest=event.artifact_digest),
            stage="",
            turn=Turn(step=turn.step, recent=turn.recent, views=turn.views) if event.reading else Turn(step=turn.step),
        ),
        work=replace(state.work, artifacts={**state.work.artifacts, event.stage: artifact}),
        review=replace(state.review, submission=None, verdict=None, findings=(), reopened=reopened),
        people=replace(state.people, answers=(), unread=()),
    )


def _run_finished(state: RunState, event: kinds.RunFinished, at: str) -> RunState:
    return replace(
        state, progress=replace(state.progress, outcome=event.outcome, error=event.error, stage="", ended_at=at)
    )


_EVOLVERS = cast(
    "dict[type[Event], Callable[[RunState, Event, str], RunState]]",
    {
        kinds.RunStarted: _run_started,
        kinds.RunResumed: _run_resumed,
        kinds.TaskAwaited: task_awaited,
        kinds.TaskArrived: task_arrived,
        kinds.PartStarted: part_started,
        kinds.RunForked: run_forked,
        kinds.ForkMade: fork_made,
        kinds.RunMarked: run_marked,
        kinds.AttemptsStarted: attempts_started,
        kinds.AttemptFinished: attempt_finished,
        kinds.AttemptChosen: attempt_chosen,
        kinds.StageStarted: _stage_started,
        kinds.StageSkipped: _stage_skipped,
        kinds.StageReopened: stage_reopened,
        kinds.ReopeningEnded: reopening_ended,
        kinds.ModelCalled: _model_called,
        kinds.ModelReplied: _model_replied,
        kinds.ModelFailed: _model_failed,
        kinds.ToolStarted: _tool_started,
        kinds.ToolFinished: _tool_finished,
        kinds.CallsKept: calls_kept,
        kinds.CallsTaken: calls_taken,
        kinds.StepFinished: _step_finished,
        kinds.ArtifactSubmitted: artifact_submitted,
        kinds.FactsGathered: facts_gathered,
        kinds.StageVerified: stage_verified,
        kinds.StagePassed: _stage_passed,
        kinds.Examined: examined,
        kinds.EscalationRaised: escalation_raised,
        kinds.EscalationResolved: escalation_resolved,
        kinds.Delivered: delivered,
        kinds.Attested: attested,
        kinds.RunFinished: _run_finished,
        kinds.UserSaid: user_said,
        kinds.UserSteered: user_steered,
        kinds.UserRan: user_ran,
        kinds.TurnFinished: turn_finished,
        kinds.SessionChanged: session_changed,
        kinds.ChildFinished: child_finished,
        kinds.HistoryCompacted: history_compacted,
    },
)
