"""One stage of a run, its attempt under way, and how a draft of it was judged, as records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from agentforge.events.kinds import Json, ToolFinished
from agentforge.frozen import dataclass

RECENT_STEPS = 3
"""How many finished steps a context may show."""
LOOP_WINDOW = 25
"""Calls that are remembered: enough to see the longest cycle (5 calls) gone through as often as the loop allows (5)."""
VIEWS_KEPT = 24

StageStatus = Literal["pending", "running", "verified", "waiting", "skipped", "failed"]


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
