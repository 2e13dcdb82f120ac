"""What it means for the state that a human is asked, and that he answered. Pure."""

from __future__ import annotations

from dataclasses import replace

from agentforge.events import kinds
from agentforge.events.fold.verification import FINDINGS_KEPT
from agentforge.events.state.attempt import StageState
from agentforge.events.state.run_state import Escalation, RunState


def escalation_raised(state: RunState, event: kinds.EscalationRaised, at: str) -> RunState:
    """The question is open, and the stage that it belongs to waits."""
    item = Escalation(
        escalation_id=event.escalation_id,
        stage=event.stage,
        kind=event.kind,
        reason=event.reason,
        question=event.question,
        options=event.options,
        context=event.context,
        raised_at=at,
        choices=event.choices,
        shown=event.shown,
    )
    after = replace(
        state, people=replace(state.people, escalations={**state.people.escalations, event.escalation_id: item})
    )
    return _with_status(after, event.stage, "waiting")


def escalation_resolved(state: RunState, event: kinds.EscalationResolved, at: str) -> RunState:
    """The question has its answer: words go to the model of the stage, a rejection is a finding, and the counters begin anew."""
    item = state.people.escalations.get(event.escalation_id)
    if item is None:
        return state
    resolved = replace(item, resolution=event, resolved_at=at)
    refused = (
        state.review.verdict is not None and not state.review.verdict.passed
    )  # it was asked after a failed attempt
    turn = replace(state.progress.turn, silent_steps=0, loop=())
    if item.kind == "stuck":
        turn = replace(turn, steps_in_attempt=0)
    after = replace(
        state,
        people=replace(state.people, escalations={**state.people.escalations, item.escalation_id: resolved}),
        progress=replace(state.progress, turn=turn),
    )
    text = event.text.strip()
    if event.decision == "answer" and _reaches_the_stage(item, text, state):
        people, said = after.people, f"{item.question} -> {text}"
        after = replace(after, people=replace(people, answers=(*people.answers, said), unread=(*people.unread, said)))
    if event.decision == "reject" and not _about_a_step(item):
        refused = refused or item.kind == "approval" or state.review.submission is not None
        after = _rejected(after, text)
    if "needs" in item.context:  # what another run has is looked at once more
        key = item.context["needs"]
        after = replace(
            after,
            relations=replace(
                after.relations, awaited={name: seen for name, seen in after.relations.awaited.items() if name != key}
            ),
        )
    return _with_status(after, item.stage, "failed" if refused else "running")


def _with_status(state: RunState, stage: str, status: str) -> RunState:
    if not stage:
        return state
    known = replace(state.progress.stages.get(stage, StageState()), status=status)  # type: ignore[arg-type] # one of StageStatus
    return replace(state, progress=replace(state.progress, stages={**state.progress.stages, stage: known}))


def _reaches_the_stage(item: Escalation, text: str, state: RunState) -> bool:
    """Whether words are for the model: of the stage that is under way, or of the one that begins next."""
    if not text or not item.stage:
        return False
    return item.stage == state.progress.stage or (not state.progress.stage and text not in item.options)


def _about_a_step(item: Escalation) -> bool:
    """The calls of one reply wait for approval; a refusal is their result, it does not end the attempt."""
    return item.kind == "approval" and "step" in item.context


def _rejected(state: RunState, reason: str) -> RunState:
    """A human refuses what was done: the draft goes back with the reason."""
    finding = {"rule": "human", "passed": False, "message": reason or "rejected without a reason", "path": ""}
    draft = state.review.submission.draft if state.review.submission else state.review.rejected
    findings = (*state.review.findings, finding)[-FINDINGS_KEPT:]
    return replace(
        state,
        review=replace(
            state.review, findings=findings, rejected=draft, verdict=None, submission=None, ahead={}, behind={}
        ),
    )
