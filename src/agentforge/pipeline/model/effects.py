"""What the pipeline can want done, beside the effects of the agent loop."""

from __future__ import annotations

from agentforge.agent import Effect
from agentforge.events.kinds.choices import Choice
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StartStage(Effect):
    """Begin a stage, or begin it again with the findings of its last attempt."""

    stage: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitTask(Effect):
    """Look whether another run has what this one needs.

    Attributes:
        key: of the need (pipeline.dependencies.Need).
    """

    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPart(Effect):
    """Make a task of one part of the plan.

    Attributes:
        part: what the plan calls it.
    """

    part: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipStage(Effect):
    """The request's action does not need this stage."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopen(Effect):
    """Open a stage again that had passed, with what a later one found, or with a human's answer.

    Attributes:
        reason: as in StageReopened.
        undone: all stages whose results have to be measured again; () where the stage only adds tests.
    """

    stage: str
    by: str
    reason: str
    findings: tuple[object, ...] = ()
    undone: tuple[str, ...] = ()
    answer: str = ""
    escalation_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndReopening(Effect):
    """Put the stage and the workspace back to what had passed."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureImpact(Effect):
    """Find the existing tests that run what the specification changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureBaseline(Effect):
    """Run the project's whole suite at the base commit, before anything is written."""

    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TryAttempts(Effect):
    """Fork independent attempts here, drive each up to its implementation, and choose one."""

    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptAttempt(Effect):
    """Take over what the chosen attempt handed in for a stage; it is measured and judged like any other draft."""

    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurePlaces(Effect):
    """Find where the work of a small request is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitKept(Effect):
    """Hand in what the stage had before it was opened again; it is measured and judged like any other draft."""

    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeCalls(Effect):
    """Carry out what an earlier stage's reply holds for this stage, as a step of its own."""

    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitDraft(Effect):
    """This stage needs no model: the harness writes the draft."""

    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GatherFacts(Effect):
    """Measure what only execution can tell about the submitted draft."""

    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge(Effect):
    """Apply the contract to the draft and the measured facts."""

    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(Effect):
    """Raise an escalation to a human.

    Attributes:
        choices: what can be answered, where it is not what every question of the kind offers.
        also: questions that are asked together with this one, behind it.
    """

    stage: str
    kind: str
    reason: str
    question: str
    options: tuple[str, ...] = ()
    context: tuple[tuple[str, object], ...] = ()
    choices: tuple[Choice, ...] = ()
    also: tuple[Ask, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PassStage(Effect):
    """Accept the stage's artifact."""

    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Examine(Effect):
    """Run the examiner's tests on the verified tree, or settle those that fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliver(Effect):
    """Make the branch from the verified commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish(Effect):
    """End the run."""

    outcome: str
    slug: str = ""
    message: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attest(Effect):
    """State what was delivered, sign it where there is a key, and hang it on the commit as a note."""
