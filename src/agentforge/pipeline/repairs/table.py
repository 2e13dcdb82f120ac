"""Which repairs a draft gets, and running them: form first, then what the files and the request say, then what is left over."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from agentforge.contracts.contract import Contract, Json
from agentforge.contracts.draft import draft_schema
from agentforge.contracts.form_repair import Repair, in_form, without_unreadable
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.runtime import Measured, Runtime
from agentforge.pipeline.model.stage import Stage
from agentforge.pipeline.repairs import request
from agentforge.pipeline.repairs.ground import Draft, RepairContext
from agentforge.pipeline.repairs.specification import specification
from agentforge.pipeline.repairs.suite import suite

Mend = Callable[[Draft, RepairContext], Iterator[Repair]]

MENDS: Mapping[str, Mend] = {
    "intake_record": request.intake,
    "clarification": request.clarify,
    "analysis": request.analyze,
    "specification": specification,
    "test_suite": suite,
}
"""Contract -> what mends the drafts for it. Every other contract's drafts are mended in their form alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """A draft as it is measured and judged, and what was repaired in it."""

    draft: Json
    repairs: tuple[Json, ...] = ()

    def told_by(self, measured: Measured) -> Measured:
        """A measurement of the repaired draft that says what was repaired."""
        return replace(measured, draft=self.draft if self.repairs else None, repairs=self.repairs)


def mended(state: RunState, stage: Stage, contract: Contract, runtime: Runtime) -> Mended:
    """Repair the submitted draft of a model; what the harness or the user submitted is left as it is.

    Returns:
        The draft, and {repair, path, message} for everything that was mended or dropped.
    """
    submission = state.review.submission
    assert submission is not None
    if submission.by != "model":
        return Mended(draft=submission.draft)
    given = json.loads(json.dumps(submission.draft, default=str))
    schema = draft_schema(contract, omit=stage.omit)
    draft, told = in_form(given, schema)
    mend = MENDS.get(stage.produces)
    if mend is not None:
        told += mend(draft, _ground(state, stage, runtime))
    draft, left_out = without_unreadable(draft, schema)
    told += left_out
    return Mended(draft=draft, repairs=tuple(dict(repair.value()) for repair in dict.fromkeys(told)))


def recorded_in(event: Event, state: RunState) -> Mended:
    """The repairs as the event that followed a submission tells them; none where it tells of none."""
    if isinstance(event, kinds.FactsGathered) and event.draft is not None:
        return Mended(draft=event.draft, repairs=event.repairs)
    if isinstance(event, kinds.StageVerified) and event.repairs:
        return Mended(draft=event.artifact, repairs=event.repairs)
    return Mended(draft=state.review.submission.draft if state.review.submission else {})


def _ground(state: RunState, stage: Stage, runtime: Runtime) -> RepairContext:
    """RED's tests are looked at as they stand in the workspace, everything else at the base commit."""
    if stage.writes != "tests":
        return RepairContext(state, runtime.git, state.identity.base_commit)
    tree = runtime.guard.known() or runtime.git.snapshot(runtime.worktree, index=runtime.scratch / "index")
    return RepairContext(state, runtime.git, tree)
