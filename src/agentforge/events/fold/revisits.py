"""What it means for the state that a stage which had passed is opened again, and that nothing came of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentforge.events import kinds
from agentforge.events.kinds import Json
from agentforge.events.state.run_state import Reopening, RunState, StageState, Turn


def stage_reopened(state: RunState, event: kinds.StageReopened, _at: str) -> RunState:
    """The stage and the one that asked for it are pending again; what the stage had is kept, unless a human wants another."""
    if event.undone:
        return _undone(state, event)
    known = state.stages.get(event.stage, StageState())
    reopened = Reopening(
        stage=event.stage,
        by=event.by,
        times=(state.reopened.times if state.reopened else 0) + 1,
        open=True,
        attempt=known.attempt,
        findings=event.findings,
        draft=state.submission.draft if state.submission else {},
        facts=state.facts.get(event.stage, {}),
        tree=state.trees.get(event.stage, ""),
        evidence=state.evidence.get(event.stage, ""),
    )
    pending = {name: replace(state.stages[name], status="pending") for name in (event.stage, event.by)}
    return replace(_between(state), stages={**state.stages, **pending}, findings=event.findings, reopened=reopened)


def _undone(state: RunState, event: kinds.StageReopened) -> RunState:
    """The results of the stages count no more, and their attempts are counted anew; what was measured of the base stays."""
    gone = {*event.undone, "impact"}
    stages = {
        name: replace(known, status="pending", artifact_digest="", results=(), since=known.attempt)
        if name in gone and known.status != "skipped"
        else known
        for name, known in state.stages.items()
    }
    return replace(
        _between(state),
        stages=stages,
        answers=(*(() if state.stage else state.answers), *((event.answer,) if event.answer else ())),
        findings=event.findings,
        kept={**state.kept, **_kept(state, event)} if event.keep else {},
        ahead={},
        artifacts={name: value for name, value in state.artifacts.items() if name not in gone},
        facts={name: value for name, value in state.facts.items() if name not in gone},
        trees={**{name: tree for name, tree in state.trees.items() if name not in gone}, "work": event.tree},
        evidence={name: value for name, value in state.evidence.items() if name not in gone},
        reopened=None,
        error=None,
        went_back=(*state.went_back, event.escalation_id) if event.escalation_id else state.went_back,
        sent_back=(*state.sent_back, *(fact_key(finding) for finding in event.findings)),
    )


def fact_key(finding: Json) -> str:
    """What tells a measured fact that belongs to another stage from others: `STAGE RULE PATH: MESSAGE`."""
    return f"{finding.get('stage')} {finding.get('rule')} {finding.get('path', '')}: {finding.get('message')}"


def draft_kept(state: RunState, stage: str) -> Json | None:
    """What the stage had before it was opened again; None when it was not, or had nothing."""
    draft = state.kept.get(stage, {}).get("draft")
    return draft if isinstance(draft, Mapping) else None


def _kept(state: RunState, event: kinds.StageReopened) -> dict[str, Json]:
    """What the undone stages had: {draft, tree, before, work}; `before` is the workspace that the stage began with, `work` the
    event's. A stage that had handed in nothing yet has files alone."""
    found: dict[str, Json] = {}
    before = event.tree
    for name in event.undone:
        draft, tree = _had(state, event, name)
        if draft is not None or tree:
            found[name] = {"draft": draft, "tree": tree, "before": before, "work": event.work}
            before = tree or before
    return found


def _had(state: RunState, event: kinds.StageReopened, name: str) -> tuple[Json | None, str]:
    """The artifact of a stage and its tree: as they were accepted, or as they are under way."""
    accepted, tree = state.artifacts.get(name), state.trees.get(name, "")
    if accepted or name != state.stage:
        return (accepted, tree) if accepted else (None, "")
    if state.verdict is not None and state.verdict.passed:
        return state.verdict.artifact, tree
    draft = state.submission.draft if state.submission else state.rejected
    if event.work:
        return draft, event.work
    by_reason = event.reason == "belongs_here" or event.by == event.stage  # what older logs kept of work under way
    return (draft, tree) if by_reason and draft is not None else (None, "")


def reopening_ended(state: RunState, event: kinds.ReopeningEnded, _at: str) -> RunState:
    """The stage has again what it had; the other is verified once more."""
    reopened = state.reopened
    if reopened is None:
        return replace(state)
    trees = {**state.trees, event.stage: reopened.tree, "work": state.trees.get(reopened.by, "")}
    return replace(
        _between(state),
        stages={**state.stages, event.stage: replace(state.stages[event.stage], status="verified")},
        facts={**state.facts, event.stage: reopened.facts},
        trees=trees,
        evidence={**state.evidence, event.stage: reopened.evidence},
        reopened=replace(reopened, open=False, ended=event.reason),
        error=None,
    )


def _between(state: RunState) -> RunState:
    """No stage is under way."""
    return replace(
        state,
        stage="",
        submission=None,
        verdict=None,
        findings=(),
        rejected=None,
        answers=(),
        turn=Turn(step=state.turn.step),
    )
