"""What a draft on its way through verification means for the state, and how the results of a verdict are read. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from agentforge.events import kinds
from agentforge.events.kinds.examinations import EXAMINE, Examined
from agentforge.events.state.attempt import StageState, Submission, Turn, Verdict
from agentforge.events.state.run_state import Review, RunState

Result = Mapping[str, object]


def refuses(result: Result) -> bool:
    """Whether a result is why the artifact was not accepted; where no sort was recorded, every broken rule was a reason."""
    return not result.get("passed") and result.get("sort", "fact") == "fact"


def refusals(results: Iterable[Result]) -> tuple[Result, ...]:
    """List the results that refuse the artifact."""
    return tuple(result for result in results if refuses(result))


def notes(results: Iterable[Result]) -> tuple[Result, ...]:
    """List the results that do not hold and refuse nothing: a reviewer should know them."""
    return tuple(result for result in results if not result.get("passed") and not refuses(result))


def to_repair(results: Iterable[Result]) -> tuple[Result, ...]:
    """List the refusals that whoever repairs is told: not those that only follow from another one."""
    every = refusals(results)
    return tuple(result for result in every if not result.get("follows")) or every


FINDINGS_KEPT = 30


def artifact_submitted(state: RunState, event: kinds.ArtifactSubmitted, _at: str) -> RunState:
    """The draft is what will be measured; drafts of later stages in the same reply wait."""
    waiting = {name: draft for name, draft in {**state.review.ahead, **event.ahead}.items() if name != event.stage}
    kept = state.review.kept
    if event.by == "harness" and kept.get(event.stage, {}).get("work"):
        kept = {**kept, event.stage: {**kept[event.stage], "measured": True}}
    submission = Submission(draft=event.draft, by=event.by)
    turn = replace(state.progress.turn, step=max(state.progress.turn.step, event.step))
    return replace(
        state,
        review=replace(state.review, submission=submission, verdict=None, ahead=waiting, kept=kept, held=False),
        progress=replace(state.progress, turn=turn),
    )


def submission_held(review: Review, held: Mapping[str, Any]) -> Review:
    """The draft is kept as one that fields may be changed of; nobody has measured it."""
    ahead = {**review.ahead, **held.get("ahead", {})}
    return replace(review, submission=None, rejected=held["draft"], ahead=ahead, held=True)


def facts_gathered(state: RunState, event: kinds.FactsGathered, _at: str) -> RunState:
    """Keep the facts; what was submitted is from here on the draft as the harness repaired it."""
    submission = state.review.submission
    if submission is not None and event.name == state.progress.stage:
        draft = submission.draft if event.draft is None else event.draft
        submission = replace(submission, draft=draft, facts=event.facts, tree=event.tree, repairs=event.repairs)
    trees = {**state.work.trees, event.name: event.tree} if event.tree else state.work.trees
    if event.tree and event.name != "baseline":  # the workspace was measured as it stands: its last snapshot
        trees = {**trees, "work": event.work or event.tree}
    evidence = {**state.work.evidence, event.name: event.evidence} if event.evidence else state.work.evidence
    facts = {**state.work.facts, event.name: event.facts}
    return replace(
        state,
        work=replace(state.work, facts=facts, trees=trees, evidence=evidence),
        review=replace(state.review, submission=submission),
    )


def stage_verified(state: RunState, event: kinds.StageVerified, _at: str) -> RunState:
    """Keep the verdict; what refuses the draft becomes the findings, and the refused draft is kept beside them."""
    verdict = Verdict(
        passed=event.passed,
        attempt=event.attempt,
        results=event.results,
        artifact=event.artifact,
        artifact_digest=event.artifact_digest,
    )
    known = replace(
        state.progress.stages.get(event.stage, StageState()),
        results=event.results,
        repairs=event.repairs,
        status="running" if event.passed else "failed",
    )
    return replace(
        state,
        review=replace(
            state.review,
            verdict=verdict,
            verdicts=state.review.verdicts + 1,
            verdicts_passed=state.review.verdicts_passed + event.passed,
            findings=to_repair(event.results)[:FINDINGS_KEPT],
            submission=state.review.submission if event.passed else None,
            rejected=None if event.passed or state.review.submission is None else state.review.submission.draft,
        ),
        progress=replace(state.progress, stages={**state.progress.stages, event.stage: known}),
    )


def examined(state: RunState, event: Examined, _at: str) -> RunState:
    """Keep what came of it; the run is between two stages again."""
    known = state.progress.stages.get(EXAMINE, StageState())
    known = replace(known, status="skipped" if event.reason else "verified", reason=event.reason)
    before = state.work.facts.get(EXAMINE, {})
    repairs = int(str(before.get("repairs", 0))) if before.get("asked") == event.asked else 0
    facts = {
        "tree": event.tree, "asked": event.asked, "path": event.path, "source": event.source, "rows": list(event.rows),
        "unrunnable": event.unrunnable, "repairs": repairs + bool(event.unrunnable), "reason": event.reason,
    }  # fmt: skip
    return replace(
        state,
        progress=replace(
            state.progress,
            stage="",
            stages={**state.progress.stages, EXAMINE: known},
            turn=Turn(step=state.progress.turn.step),
            error=None,
        ),
        work=replace(state.work, facts={**state.work.facts, EXAMINE: facts}),
    )
