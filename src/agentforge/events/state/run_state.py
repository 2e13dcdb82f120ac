"""The state of a run: a fold of its events, bounded in size whatever the run's length.

It holds eight records and the conversation. Whoever decides something about one side of a run takes that record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from agentforge.events.kinds import EscalationResolved, Json
from agentforge.events.state.attempt import Call, Reopening, StageState, Submission, Turn, Verdict
from agentforge.events.state.talk import Talk
from agentforge.frozen import dataclass


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
class RunIdentity:
    """Which run this is, and where it works.

    Attributes:
        kind: "task", "session" or "subagent".
        parent: the run that it was forked or delegated from.
        candidate: the number of this run among its parent's attempts, 0 = it is none.
        digests, versions: what it was started with, see RunStarted.
    """

    run_id: str = ""
    kind: str = "task"
    parent: str | None = None
    candidate: int = 0
    repo: str = ""
    base_commit: str = ""
    base_ref: str | None = None
    worktree: str = ""
    branch: str = ""
    digests: Json = field(default_factory=dict)
    versions: Json = field(default_factory=dict)

    @property
    def place_among(self) -> dict[str, str | int]:
        """Which of several attempts, or which part of a plan, this run is, as labels of its requests."""
        plan = self.digests.get("plan")
        part = {"part": str(plan.get("part") or plan.get("repo"))} if isinstance(plan, Mapping) else {}
        return {**part, **({"candidate": self.candidate} if self.candidate else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What is asked of the run, and how it is to be done.

    Attributes:
        profile: "" or "small", see pipeline.small_models; grade: what the model has shown on this machine, {} = nothing is known.
        candidates, candidates_from: how many independent attempts are wanted, and from which stage on.
        added: stages from outside, see pipeline.plugins: {name, after, writes, files, source, digest}.
        examiner: who examines the delivered tree, see RunStarted; {} = nobody.
    """

    request: str = ""
    workflow: str = ""
    violations: tuple[Json, ...] = ()
    refactoring: Json = field(default_factory=dict)
    mode: str = "autonomous"
    approve: tuple[str, ...] = ()
    model: str = ""
    profile: str = ""
    grade: Json = field(default_factory=dict)
    limits: Limits = Limits()
    tests: tuple[str, ...] = ()
    apply: bool = False
    left_out: tuple[str, ...] = ()
    candidates: int = 1
    candidates_from: str = "green"
    added: tuple[Json, ...] = ()
    examiner: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the run has come, and how it ended.

    Attributes:
        stage: the current stage, "" before the first and after the last.
        untrusted: where text that nobody vouches for came from, sorted; not empty = what the run does next is tainted.
        active_s: seconds of wall time in which a process drove the run.
        last_at: time stamp of the last event (ISO 8601, UTC).
    """

    stage: str = ""
    stages: Mapping[str, StageState] = field(default_factory=dict)
    turn: Turn = Turn()
    untrusted: tuple[str, ...] = ()
    started_at: str = ""
    last_at: str = ""
    active_s: float = 0.0
    outcome: str = ""
    error: Json | None = None
    ended_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The draft under way and what became of those before it.

    Attributes:
        findings: failed rules of the last verdict, and a human's reasons.
        rejected: the draft that the last verdict, or a human, refused, or that is held.
        held: `rejected` was handed in beside a call that was not carried out, and waits for it; nobody measured it.
        ahead: drafts that came together with an earlier stage's, by stage; each waits until its stage begins.
        behind: calls that stood behind an earlier stage's submission, by stage; each waits until its stage begins.
        reopened: how a stage was opened again by a later one; None when none was.
        sent_back: facts for which a stage was opened again by itself, so that each does it once.
        kept: what stages had before they were opened again, and where they begin now: {draft, tree, before, work,
            measured: it was handed in and measured again}.
        verdicts, verdicts_passed: how often a stage was judged, and accepted.
    """

    submission: Submission | None = None
    verdict: Verdict | None = None
    findings: tuple[Json, ...] = ()
    rejected: Json | None = None
    held: bool = False
    ahead: Mapping[str, Json] = field(default_factory=dict)
    behind: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)
    reopened: Reopening | None = None
    sent_back: tuple[str, ...] = ()
    kept: Mapping[str, Json] = field(default_factory=dict)
    verdicts: int = 0
    verdicts_passed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What the stages have made, what was measured of it, and what was delivered.

    Attributes:
        artifacts: accepted artifacts by stage name.
        facts: measured facts that later stages rely on, by name ("baseline", "red", ...).
        trees: git trees by what they stand for: a measured stage, "baseline", "work" (the last snapshot).
        evidence: digests of the blobs with the details behind facts, by name.
    """

    artifacts: Mapping[str, Json] = field(default_factory=dict)
    facts: Mapping[str, Json] = field(default_factory=dict)
    trees: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, str] = field(default_factory=dict)
    delivered: Json | None = None
    attested: Json | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunUsage:
    """What the run has used.

    Attributes:
        spending: what was asked of models, by stage, attempt and model; of this run alone.
        inherited: the same for the records that a fork shares with its parent.
        lately: what the replies of the last minute used: (time stamp, tokens, USD), oldest first.
    """

    totals: Totals = Totals()
    spending: Mapping[str, Spent] = field(default_factory=dict)
    inherited: Mapping[str, Spent] = field(default_factory=dict)
    lately: tuple[tuple[str, int, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """What humans were asked, what they answered, and what they said of the delivery.

    Attributes:
        answers: human answers that belong to the current stage, newest last.
        unread: those of them that no model has been given yet.
        went_back: escalations whose answer opened an earlier stage again.
        denials: calls that were not approved: {step, tool, reason}.
        marks: what a human said of the delivery: {mark, note, by, at}.
    """

    escalations: Mapping[str, Escalation] = field(default_factory=dict)
    answers: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    went_back: tuple[str, ...] = ()
    denials: tuple[Json, ...] = ()
    marks: tuple[Json, ...] = ()

    @property
    def open_escalations(self) -> tuple[Escalation, ...]:
        """Escalations that nobody answered yet, oldest first."""
        return tuple(item for item in self.escalations.values() if item.resolution is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """What the run has to do with other runs and with a pull request.

    Attributes:
        after: what other runs must reach before this one begins.
        awaited: what this run needs of others and how that stands, by key: {status: waiting, failed or arrived, ...}.
        parts: the tasks that a plan became, by what the plan calls them: {path, task_id, base_commit, repo, part}.
        forks: runs that were forked from this one: {child, step}.
        attempts: the independent attempts of this run: {stage, children, rows, chosen}, see events.kinds.candidates.
        pull: what the run has to do with a pull request, see RunStarted.
    """

    after: tuple[Json, ...] = ()
    awaited: Mapping[str, Json] = field(default_factory=dict)
    parts: Mapping[str, Json] = field(default_factory=dict)
    forks: tuple[Json, ...] = ()
    attempts: Json = field(default_factory=dict)
    pull: Json = field(default_factory=dict)

    @property
    def waits_for(self) -> tuple[str, ...]:
        """Keys of what this run waits for and that may come yet."""
        return tuple(key for key, seen in self.awaited.items() if seen.get("status") == "waiting")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Everything that decides what happens next; `talk` is the conversation of a session or subagent, empty for a task."""

    identity: RunIdentity = RunIdentity()
    brief: Brief = Brief()
    progress: Progress = Progress()
    review: Review = Review()
    work: Work = Work()
    usage: RunUsage = RunUsage()
    people: People = People()
    relations: Relations = Relations()
    talk: Talk = Talk()
