"""What can happen in a run: one frozen record per fact. No behaviour, no rendering; evolve.py gives them meaning.

Names are past tense. A new field has a default; a changed meaning is a new event. Mappings and tuples hold JSON values only.
Large things (requests, full outputs, patches, evidence) live in blobs and are named by digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from agentforge.events.kinds.calls import (
    CallsKept as CallsKept,
    CallsTaken as CallsTaken,
    Effect as Effect,
    HookFinished as HookFinished,
    ModelCalled as ModelCalled,
    ModelFailed as ModelFailed,
    ModelReplied as ModelReplied,
    ToolFinished as ToolFinished,
    ToolStarted as ToolStarted,
    ToolStatus as ToolStatus,
)
from agentforge.events.kinds.candidates import (
    AttemptChosen as AttemptChosen,
    AttemptFinished as AttemptFinished,
    AttemptsStarted as AttemptsStarted,
)
from agentforge.events.kinds.conversation import (
    ApprovalAnswered as ApprovalAnswered,
    BackgroundEnded as BackgroundEnded,
    BackgroundStarted as BackgroundStarted,
    CheckpointMade as CheckpointMade,
    CheckpointRestored as CheckpointRestored,
    ChildFinished as ChildFinished,
    ChildStarted as ChildStarted,
    HistoryCleared as HistoryCleared,
    HistoryCompacted as HistoryCompacted,
    SessionChanged as SessionChanged,
    TodosChanged as TodosChanged,
    TurnFinished as TurnFinished,
    TurnOutcome as TurnOutcome,
    UserRan as UserRan,
    UserSaid as UserSaid,
    UserSteered as UserSteered,
    WindowFilling as WindowFilling,
    WritersMerged as WritersMerged,
)
from agentforge.events.kinds.dependencies import (
    PartStarted as PartStarted,
    TaskArrived as TaskArrived,
    TaskAwaited as TaskAwaited,
)
from agentforge.events.kinds.event import Event as Event
from agentforge.events.kinds.examinations import Examined as Examined
from agentforge.events.kinds.relations import (
    Attested as Attested,
    Delivered as Delivered,
    ForkMade as ForkMade,
    NotificationSent as NotificationSent,
    RunForked as RunForked,
    RunMarked as RunMarked,
    RunShared as RunShared,
)
from agentforge.frozen import dataclass

Json = Mapping[str, object]
Mode = Literal["autonomous", "supervised", "interactive"]
Outcome = Literal["delivered", "analyzed", "failed", "aborted"]
EscalationKind = Literal["question", "approval", "stuck", "limit", "conflict", "in_doubt", "model"]
Decision = Literal["answer", "approve", "reject", "abort"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """The first record of every log; binds all that the run depends on.

    Attributes:
        kind: "task" (pipeline), "session" (interactive) or "subagent".
        request: verbatim, secrets redacted; repo: absolute path of the user's repository.
        base_ref: the branch HEAD was on, None when detached.
        limits: max_steps, budget_tokens, budget_usd, deadline_s, attempts (see state.Limits).
        tests: repository paths of tests that the user supplied.
        digests: of settings, contracts, prompts, stages; versions: of agentforge, python, git.
        worktree: absolute path of the task's own worktree, outside the user's checkout.
        left_out: paths with uncommitted changes, which the base does not hold; the first of them.
        profile: "" = the ordinary way, "small" = that of small models; grade: what the model has shown on this machine.
        candidates: independent attempts at `candidates_from` and what follows up to the implementation; 1 = none.
        workflow: "" = from a request to a delivery, "fix" = repair violations, "split" = plan over repositories.
        violations: what a fix repairs, as measured at the base; after: what others must reach first, see pipeline.dependencies.
        pull: of a pull request: {wanted: it is opened after the delivery; follows: the run whose delivery, base_commit, this one
            goes on from, on its branch; branch: its name; findings: ids of the review's findings that it answers}.
        added: stages that others wrote: {name, after, writes, files, source, digest of the text, which is a blob}.
        refactoring: the change that the run carries out by syntax tree, see python_refactoring.request.Wanted; {} = none.
        examiner: {model: "auto" or provider/name, asks: whether an open reading is a question}; {} = nobody examines.
    """

    kind: Literal["task", "session", "subagent"]
    run_id: str
    request: str
    repo: str
    base_commit: str
    base_ref: str | None = None
    worktree: str = ""
    branch: str = ""
    mode: Mode = "autonomous"
    approve: tuple[str, ...] = ()
    model: str = ""
    limits: Json = field(default_factory=dict)
    tests: tuple[str, ...] = ()
    digests: Json = field(default_factory=dict)
    versions: Json = field(default_factory=dict)
    apply: bool = False
    parent: str | None = None
    left_out: tuple[str, ...] = ()
    workflow: str = ""
    violations: tuple[Json, ...] = ()
    after: tuple[Json, ...] = ()
    pull: Json = field(default_factory=dict)
    profile: str = ""
    candidates: int = 1
    candidates_from: str = "green"
    grade: Json = field(default_factory=dict)
    added: tuple[Json, ...] = ()
    examiner: Json = field(default_factory=dict)
    refactoring: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed(Event):
    """The run was opened again by another process. `limits` holds only the limits that were changed.

    Attributes:
        repo, worktree: where they are now, "" = where they were; a run may be copied to another place or machine.
        interrupted_step: the step in which the process before died, 0 = between two steps.
        added: the stages from outside as they are from now on, where a person took changed ones; () = as before.
    """

    pid: int
    versions: Json = field(default_factory=dict)
    limits: Json = field(default_factory=dict)
    repo: str = ""
    worktree: str = ""
    interrupted_step: int = 0
    added: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecovered(Event):
    """A torn tail was moved aside when the log was opened. `digest` is of what was moved, "" in old logs."""

    quarantined_bytes: int
    quarantine: str
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageStarted(Event):
    """A stage began, or began again with the findings of its last attempt.

    Attributes:
        attempt: counts from 1.
        material: digest of the blob with the pieces of the stable front ([{name, text}]): what every context of the stage shows.
        tree: the workspace with the stage's earlier work put into it, "" where there is none.
    """

    stage: str
    attempt: int
    material: str = ""
    tree: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSkipped(Event):
    """The request's action does not need this stage."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReopened(Event):
    """A stage that had passed is opened again: a later one measured that its result is too weak, or a human wants another.

    Attributes:
        by: the later stage; it is verified again afterwards.
        reason: "tests_too_weak", "answered" (a human's answer: `undone`, `answer`, `escalation_id`, `tree` say more), or
            "belongs_here" (the later stage measured what only this one can repair: `findings`, `undone`, `tree` say more).
        findings: {rule, path, message, ...} of what the tests do not notice, or of what is to be repaired.
        undone: the stages whose results have to be measured again.
        tree: what the workspace is put back to.
        keep: what the undone stages had is where they begin again.
        work: the workspace as it was then, with what the stage under way had written; "" = an older log, in which work under
            way was kept only for `belongs_here` or where the stage itself was opened again.
        lists_apart: what a specification only lists more than before (tests that change, symbols) changes no test that was
            written from it; False = an older log, in which each such entry counted.
    """

    stage: str
    by: str
    reason: str
    findings: tuple[Json, ...] = ()
    undone: tuple[str, ...] = ()
    answer: str = ""
    escalation_id: str = ""
    tree: str = ""
    keep: bool = False
    work: str = ""
    lists_apart: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReopeningEnded(Event):
    """Nothing came of opening a stage again: it stands as it had passed before, and so does the workspace."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinished(Event):
    """All calls of a reply are done. `tree` and `patch` only when files changed in the step."""

    step: int
    stage: str
    summary: str
    tree: str | None = None
    patch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactSubmitted(Event):
    """A stage's draft: what the model (or the harness, where no model is needed) says the result is.

    Attributes:
        step: of the model's reply that holds it, else a step of its own; 0 in logs of 0.1 where no reply held it.
        ahead: drafts of later stages that came in the same reply, by stage; each is verified when its stage begins.
    """

    stage: str
    attempt: int
    draft: Json
    by: Literal["model", "harness", "user"]
    step: int = 0
    ahead: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsGathered(Event):
    """What the verifier measured by execution. `evidence` names a blob with the per-test details.

    Attributes:
        name: "baseline" or the name of the stage.
        tree: the git tree that was measured, "" when none.
        work: the workspace at that time where it is not `tree`, "" when it is.
        draft: the submitted draft as the harness repaired it before it measured; None when nothing was repaired.
        repairs: {repair, path, message} for everything that the harness repaired or dropped.
    """

    name: str
    attempt: int
    facts: Json
    tree: str = ""
    evidence: str | None = None
    duration_ms: int = 0
    work: str = ""
    draft: Json | None = None
    repairs: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StageVerified(Event):
    """The verdict of pure rules over draft and facts.

    Attributes:
        results: {rule, passed, measured, message, path, sort} for every rule of the contract. Only what is of the sort "fact"
            refuses; where no sort was recorded, it is one. `follows` is true where a rule only follows from another.
        artifact: the completed artifact, verification fields written by the harness.
        contract_document: digest of the blob with the contract itself, "" in old logs.
        repairs: {repair, path, message} for everything that the harness repaired or dropped in the draft before it judged.
    """

    stage: str
    attempt: int
    passed: bool
    contract: str
    contract_digest: str
    artifact: Json
    artifact_digest: str
    results: tuple[Json, ...]
    contract_document: str = ""
    repairs: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePassed(Event):
    """The stage's artifact is accepted (and approved where approval was asked).

    Attributes:
        reading: what the stage read for the next one stands in that one's contexts.
    """

    stage: str
    artifact_digest: str
    reading: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationRaised(Event):
    """AgentForge asks a human. The run waits for the answer, also without a process.

    Attributes:
        choices: what can be answered, see events.choices; empty in logs of earlier versions.
        shown: what is judged: a specification, tests, a diff; "" where the question holds it.
        following: how many more questions are asked together with this one, behind it.
    """

    escalation_id: str
    stage: str
    kind: EscalationKind
    reason: str
    question: str
    options: tuple[str, ...] = ()
    context: Json = field(default_factory=dict)
    choices: tuple[Json, ...] = ()
    shown: str = ""
    following: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationResolved(Event):
    """A human answered; `reopen` names an earlier stage that is done again with the answer, "" = none."""

    escalation_id: str
    decision: Decision
    text: str = ""
    by: str = "user"
    reopen: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInterrupted(Event):
    """The driving process was told to stop (Ctrl-C, a signal) or met an error of the harness; `resume` goes on."""

    reason: str
    slug: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSealed(Event):
    """What the records before this one fold to, as a digest: a snapshot of that state is used only when it has this digest."""

    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(Event):
    """Nothing more will happen. `error` is {slug, message, hint} or None."""

    outcome: Outcome
    error: Json | None = None
