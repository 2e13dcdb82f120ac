"""The state of a run: a fold of its events, bounded in size whatever the run's length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from agentforge.events.kinds import EscalationResolved, Json, ToolFinished
from agentforge.events.state.talk import Talk
from agentforge.frozen import dataclass

RECENT_STEPS = 3
"""How many finished steps a context may show (seed 001 section 3.5: "keep only last 3")."""
LOOP_WINDOW = 25
"""Calls that are remembered: enough to see the longest cycle (5 calls) gone through as often as the loop allows (5)."""
VIEWS_KEPT = 24

StageStatus = Literal["pending", "running", "verified", "waiting", "skipped", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of a run, tested before every model call. None = no bound.

    Attributes:
        max_steps: model calls of the whole run.
        budget_tokens: prompt + completion tokens.
        budget_usd: money; a model without a known price counts as zero and is said so.
        deadline_s: seconds of wall time since the run started, waiting for humans excluded.
        attempts: submissions per stage before a human is asked.
        stage_steps: model calls per stage attempt.
        usd_per_minute: money within any 60 seconds; more is taken for a run gone wild.
        tokens_per_minute: prompt + completion tokens, the same.
    """

    max_steps: int | None = 200
    budget_tokens: int | None = 2_000_000
    budget_usd: float | None = None
    deadline_s: float | None = None
    attempts: int = 5
    stage_steps: int = 25
    usd_per_minute: float | None = None
    tokens_per_minute: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageState:
    """One stage of the run.

    Attributes:
        since: the last attempt that counts no more, because a human had the stage done again.
        results, repairs: of its last verdict, see events.kinds.StageVerified.
    """

    status: StageStatus = "pending"
    attempt: int = 0
    steps: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    artifact_digest: str = ""
    reason: str = ""
    results: tuple[Json, ...] = ()
    since: int = 0
    repairs: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call of the reply that is being carried out."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedStep:
    """A step as a later context may show it."""

    step: int
    said: str
    results: tuple[ToolFinished, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Where the agent loop stands inside the current stage attempt.

    Attributes:
        calling: a request was sent and no reply is recorded.
        calls: the calls of the current reply; `done` of them are finished; `started` = one was begun and not finished.
        results: observations of the current step so far.
        recent: the last finished steps, oldest first.
        views: parts of files (path, {offset, limit}) that the model asked to see, most recent last.
        seen: digests of the viewed files as the model last saw or wrote them, by repository path.
        loop: digests of the last (call, result) pairs.
        said: text of the current reply.
        silent_steps: replies in a row without a tool call.
        material: digest of the stable front of the stage's contexts.
        written: names of the definitions that this attempt of a small model has written.
        alone: definition -> in how many rounds a sample of it passed and nothing agreed with it.
    """

    step: int = 0
    calling: bool = False
    replied: bool = False
    said: str = ""
    finish: str = ""
    calls: tuple[Call, ...] = ()
    done: int = 0
    started: bool = False
    started_event: Json | None = None
    results: tuple[ToolFinished, ...] = ()
    recent: tuple[FinishedStep, ...] = ()
    views: tuple[tuple[str, Json], ...] = ()
    seen: Json = field(default_factory=dict)
    loop: tuple[str, ...] = ()
    steps_in_attempt: int = 0
    silent_steps: int = 0
    material: str = ""
    written: tuple[str, ...] = ()
    alone: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A draft on its way through verification; `repairs` tells what the harness mended in it before it measured."""

    draft: Json
    by: str
    facts: Json | None = None
    tree: str = ""
    repairs: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The last verdict of the current stage."""

    passed: bool
    attempt: int
    results: tuple[Json, ...]
    artifact: Json
    artifact_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """A question to a human and, once given, the answer."""

    escalation_id: str
    stage: str
    kind: str
    reason: str
    question: str
    options: tuple[str, ...]
    context: Json
    raised_at: str
    resolution: EscalationResolved | None = None
    resolved_at: str = ""
    choices: tuple[Json, ...] = ()
    shown: str = ""

    @property
    def told(self) -> dict[str, object]:
        """What was asked, as every listing begins with it."""
        return {
            "id": self.escalation_id,
            "stage": self.stage,
            "kind": self.kind,
            "reason": self.reason,
            "question": self.question,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopening:
    """How a stage that had passed was opened again, the last time.

    Attributes:
        by: the stage that asked for it, with the draft that is verified again.
        times: how often a stage was opened again in this run.
        open: whether it still is.
        attempt: the last attempt of the stage before.
        facts, tree, evidence: what had been measured when it passed.
        ended: why nothing came of it; "" when something did.
    """

    stage: str
    by: str
    times: int
    open: bool
    attempt: int = 0
    findings: tuple[Json, ...] = ()
    draft: Json = field(default_factory=dict)
    facts: Json = field(default_factory=dict)
    tree: str = ""
    evidence: str = ""
    ended: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over the run. `cost_known` turns False when a call's price is unknown."""

    steps: int = 0
    llm_calls: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    max_step_prompt_tokens: int = 0
    cost_usd: float = 0.0
    cost_known: bool = True
    tool_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one attempt at a stage asked of one model.

    Attributes:
        prompt_tokens: the cached ones included.
        cost_usd: of the replies whose price is known.
        unpriced: replies whose price is not.
    """

    stage: str
    attempt: int
    model: str
    calls: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Everything that decides what happens next.

    Attributes:
        stage: the current stage, "" before the first and after the last.
        findings: failed rules of the last verdict, and a human's reasons.
        rejected: the draft that the last verdict, or a human, refused.
        ahead: drafts that came together with an earlier stage's, by stage; each waits until its stage begins.
        artifacts: accepted artifacts by stage name.
        facts: measured facts that later stages rely on, by name ("baseline", "red", ...).
        trees: git trees by what they stand for: a measured stage, "baseline", "work" (the last snapshot).
        evidence: digests of the blobs with the details behind facts, by name.
        reopened: how a stage was opened again by a later one; None when none was.
        answers: human answers that belong to the current stage, newest last.
        went_back: escalations whose answer opened an earlier stage again.
        sent_back: facts for which a stage was opened again by itself, so that each does it once.
        kept: what stages had before they were opened again, and where they begin now: {draft, tree, before, work,
            measured: it was handed in and measured again}.
        denials: calls that were not approved: {step, tool, reason}.
        spending: what was asked of models, by stage, attempt and model; of this run alone.
        inherited: the same for the records that a fork shares with its parent.
        verdicts, verdicts_passed: how often a stage was judged, and accepted.
        forks: runs that were forked from this one: {child, step}.
        marks: what a human said of the delivery: {mark, note, by, at}.
        talk: the conversation of a session or subagent; empty for a task.
        active_s: seconds of wall time in which a process drove the run.
        last_at: time stamp of the last event (ISO 8601, UTC).
        lately: what the replies of the last minute used: (time stamp, tokens, USD), oldest first.
        after: what other runs must reach before this one begins.
        pull: what the run has to do with a pull request, see RunStarted.
        candidates, candidates_from: how many independent attempts are wanted, and from which stage on.
        added: stages from outside, see pipeline.adding: {name, after, writes, files, source, digest}.
        examiner: who examines the delivered tree, see RunStarted; {} = nobody.
        candidate: the number of this run among its parent's attempts, 0 = it is none.
        attempts: those of this run: {stage, children, rows, chosen}, see events.attempting.
        profile: "" or "small", see pipeline.small; grade: what the model has shown on this machine, {} = nothing is known.
        awaited: what this run needs of others and how that stands, by key: {status: waiting, failed or arrived, ...}.
        parts: the tasks that a plan became, by what the plan calls them: {path, task_id, base_commit, repo, part}.
        untrusted: where text that nobody vouches for came from, sorted; not empty = what the run does next is tainted.
    """

    run_id: str = ""
    kind: str = "task"
    request: str = ""
    repo: str = ""
    base_commit: str = ""
    base_ref: str | None = None
    worktree: str = ""
    branch: str = ""
    mode: str = "autonomous"
    approve: tuple[str, ...] = ()
    model: str = ""
    limits: Limits = Limits()
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
    candidate: int = 0
    added: tuple[Json, ...] = ()
    examiner: Json = field(default_factory=dict)
    refactoring: Json = field(default_factory=dict)
    attempts: Json = field(default_factory=dict)
    grade: Json = field(default_factory=dict)
    awaited: Mapping[str, Json] = field(default_factory=dict)
    started_at: str = ""
    last_at: str = ""
    active_s: float = 0.0
    stage: str = ""
    stages: Mapping[str, StageState] = field(default_factory=dict)
    turn: Turn = Turn()
    submission: Submission | None = None
    verdict: Verdict | None = None
    findings: tuple[Json, ...] = ()
    rejected: Json | None = None
    answers: tuple[str, ...] = ()
    ahead: Mapping[str, Json] = field(default_factory=dict)
    artifacts: Mapping[str, Json] = field(default_factory=dict)
    facts: Mapping[str, Json] = field(default_factory=dict)
    trees: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, str] = field(default_factory=dict)
    escalations: Mapping[str, Escalation] = field(default_factory=dict)
    totals: Totals = Totals()
    denials: tuple[Json, ...] = ()
    lately: tuple[tuple[str, int, float], ...] = ()
    untrusted: tuple[str, ...] = ()
    reopened: Reopening | None = None
    delivered: Json | None = None
    attested: Json | None = None
    outcome: str = ""
    error: Json | None = None
    ended_at: str = ""
    spending: Mapping[str, Spent] = field(default_factory=dict)
    inherited: Mapping[str, Spent] = field(default_factory=dict)
    verdicts: int = 0
    verdicts_passed: int = 0
    forks: tuple[Json, ...] = ()
    marks: tuple[Json, ...] = ()
    went_back: tuple[str, ...] = ()
    sent_back: tuple[str, ...] = ()
    kept: Mapping[str, Json] = field(default_factory=dict)
    parts: Mapping[str, Json] = field(default_factory=dict)
    talk: Talk = Talk()

    @property
    def open_escalations(self) -> tuple[Escalation, ...]:
        """Escalations that nobody answered yet, oldest first."""
        return tuple(item for item in self.escalations.values() if item.resolution is None)

    @property
    def waits_for(self) -> tuple[str, ...]:
        """Keys of what this run waits for and that may come yet."""
        return tuple(key for key, seen in self.awaited.items() if seen.get("status") == "waiting")

    @property
    def place_among(self) -> dict[str, str | int]:
        """Which of several attempts, or which part of a plan, this run is, as labels of its requests."""
        plan = self.digests.get("plan")
        part = {"part": str(plan.get("part") or plan.get("repo"))} if isinstance(plan, Mapping) else {}
        return {**part, **({"candidate": self.candidate} if self.candidate else {})}
