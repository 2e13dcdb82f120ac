"""What it means for the state that a stage which had passed is opened again, and that nothing came of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentforge.events import kinds
from agentforge.events.kinds import Json
from agentforge.events.state.attempt import Reopening, StageState, Turn
from agentforge.events.state.run_state import RunState


def stage_reopened(state: RunState, event: kinds.StageReopened, _at: str) -> RunState:
    """The stage and the one that asked for it are pending again; what the stage had is kept, unless a human wants another."""
    if event.undone:
        return _undone(state, event)
    known = state.progress.stages.get(event.stage, StageState())
    reopened = Reopening(
        stage=event.stage,
        by=event.by,
        times=(state.review.reopened.times if state.review.reopened else 0) + 1,
        open=True,
        attempt=known.attempt,
        findings=event.findings,
        draft=state.review.submission.draft if state.review.submission else {},
        facts=state.work.facts.get(event.stage, {}),
        tree=state.work.trees.get(event.stage, ""),
        evidence=state.work.evidence.get(event.stage, ""),
    )
    pending = {name: replace(state.progress.stages[name], status="pending") for name in (event.stage, event.by)}
    after = _between(state)
    return replace(
        after,
        progress=replace(after.progress, stages={**state.progress.stages, **pending}),
        review=replace(after.review, findings=event.findings, reopened=reopened),
    )


def _undone(state: RunState, event: kinds.StageReopened) -> RunState:
    """The results of the stages count no more, and their attempts are counted anew; what was measured of the base stays."""
    gone = {*event.undone, "impact"}
    stages = {
        name: replace(known, status="pending", artifact_digest="", results=(), since=known.attempt)
        if name in gone and known.status != "skipped"
        else known
        for name, known in state.progress.stages.items()
    }
    after, work, people = _between(state), state.work, state.people
    told = people.unread if state.progress.stage else people.answers
    answers = (*(one for one in told if one != event.answer), *((event.answer,) if event.answer else ()))
    went_back = (*people.went_back, event.escalation_id) if event.escalation_id else people.went_back
    return replace(
        after,
        progress=replace(after.progress, stages=stages, error=None),
        review=replace(
            after.review,
            findings=event.findings,
            kept={**state.review.kept, **_kept(state, event)} if event.keep else {},
            ahead={},
            behind={},
            reopened=None,
            sent_back=(*state.review.sent_back, *(fact_key(finding) for finding in event.findings)),
        ),
        work=replace(
            work,
            artifacts={name: value for name, value in work.artifacts.items() if name not in gone},
            facts={name: value for name, value in work.facts.items() if name not in gone},
            trees={**{name: tree for name, tree in work.trees.items() if name not in gone}, "work": event.tree},
            evidence={name: value for name, value in work.evidence.items() if name not in gone},
        ),
        people=replace(after.people, answers=answers, unread=answers, went_back=went_back),
    )


def fact_key(finding: Json) -> str:
    """What tells a measured fact that belongs to another stage from others: `STAGE RULE PATH: MESSAGE`."""
    return f"{finding.get('stage')} {finding.get('rule')} {finding.get('path', '')}: {finding.get('message')}"


def draft_kept(state: RunState, stage: str) -> Json | None:
    """What the stage had before it was opened again; None when it was not, or had nothing."""
    draft = state.review.kept.get(stage, {}).get("draft")
    return draft if isinstance(draft, Mapping) else None


def _kept(state: RunState, event: kinds.StageReopened) -> dict[str, Json]:
    """What the undone stages had: {draft, tree, before, work, lists_apart}; `before` is the workspace that the stage began with,
    the last two are the event's. A stage that had handed in nothing yet has files alone."""
    found: dict[str, Json] = {}
    before = event.tree
    for name in event.undone:
        draft, tree = _had(state, event, name)
        if draft is not None or tree:
            of_event = {"work": event.work, "lists_apart": event.lists_apart}
            found[name] = {"draft": draft, "tree": tree, "before": before, **of_event}
            before = tree or before
    return found


def _had(state: RunState, event: kinds.StageReopened, name: str) -> tuple[Json | None, str]:
    """The artifact of a stage and its tree: as they were accepted, or as they are under way."""
    accepted, tree = state.work.artifacts.get(name), state.work.trees.get(name, "")
    if accepted or name != state.progress.stage:
        return (accepted, tree) if accepted else (None, "")
    if state.review.verdict is not None and state.review.verdict.passed:
        return state.review.verdict.artifact, tree
    draft = state.review.submission.draft if state.review.submission else state.review.rejected
    if event.work:
        return draft, event.work
    by_reason = event.reason == "belongs_here" or event.by == event.stage  # what older logs kept of work under way
    return (draft, tree) if by_reason and draft is not None else (None, "")


def reopening_ended(state: RunState, event: kinds.ReopeningEnded, _at: str) -> RunState:
    """The stage has again what it had; the other is verified once more."""
    reopened = state.review.reopened
    if reopened is None:
        return state
    trees = {**state.work.trees, event.stage: reopened.tree, "work": state.work.trees.get(reopened.by, "")}
    after, work, known = _between(state), state.work, state.progress.stages
    stages = {**known, event.stage: replace(known[event.stage], status="verified")}
    return replace(
        after,
        progress=replace(after.progress, stages=stages, error=None),
        review=replace(after.review, reopened=replace(reopened, open=False, ended=event.reason)),
        work=replace(
            work,
            facts={**work.facts, event.stage: reopened.facts},
            trees=trees,
            evidence={**work.evidence, event.stage: reopened.evidence},
        ),
    )


def _between(state: RunState) -> RunState:
    """No stage is under way."""
    return replace(
        state,
        progress=replace(state.progress, stage="", turn=Turn(step=state.progress.turn.step)),
        review=replace(state.review, submission=None, verdict=None, findings=(), rejected=None),
        people=replace(state.people, answers=(), unread=()),
    )
