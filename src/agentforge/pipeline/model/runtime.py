"""What a task's pipeline stands on: plain objects, wired by app and handed down. No decisions here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.agent import BlobStore
from agentforge.context.budget import TOTAL_LIMIT
from agentforge.errors import AgentForgeError, InfrastructureError
from agentforge.events.kinds import Event
from agentforge.events.kinds.dependencies import PartStarted
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.hooks import HookEngine
from agentforge.messages import ModelReply
from agentforge.models import Model
from agentforge.pipeline.model.run_dependencies import Need, Sight
from agentforge.pipeline.model.stage import Stage
from agentforge.proof.envelope import Signer
from agentforge.safety.policy.permission import Rule
from agentforge.workspace.git.repository import Git

if TYPE_CHECKING:
    from agentforge.conformance import CheckReport
    from agentforge.contracts.catalogue import ContractSet
    from agentforge.guest import GuestChoice
    from agentforge.suite import Rig
    from agentforge.workspace.protection.workspace_guard import Guard
    from agentforge.workspace.sandbox.box import Sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Facts for the rules (compact), evidence for the audit (detailed), and the tree they hold for.

    Attributes:
        work: the tree of the workspace where it is another one.
        draft, repairs: see events.kinds.FactsGathered.
    """

    facts: dict[str, object]
    evidence: dict[str, object] = field(default_factory=dict)
    tree: str = ""
    work: str = ""
    draft: Mapping[str, object] | None = None
    repairs: tuple[Mapping[str, object], ...] = ()


def no_signer() -> Signer | None:
    """Nobody signs."""
    return None


def no_guest(_stage: str) -> GuestChoice | None:
    """The model does every stage."""
    return None


def no_attempts(_state: RunState, stage: str) -> Iterator[Event]:
    """Nobody can fork runs here."""
    raise AgentForgeError(f"independent attempts at {stage} cannot be made here")


def nobody_looks(need: Need, _state: RunState) -> Sight:
    """No other run can be seen from here."""
    return Sight(status="failed", seen=f"{need.words} cannot be looked at from here")


def nobody_begins(part: str, _state: RunState) -> PartStarted:
    """No task can be started from here."""
    raise InfrastructureError(f"the part {part} cannot be started from here")


@dataclass(frozen=True, slots=True, kw_only=True)
class Permits:
    """What the settings say about tool calls; nobody is asked.

    Attributes:
        mode: in which calls are decided.
        rules: of all settings files.
        allowed_tools: names or patterns of the tools that may be called; None = those of the stage.
        now: the time, for rules that expire.
    """

    mode: str = "auto"
    rules: tuple[Rule, ...] = ()
    allowed_tools: tuple[str, ...] | None = None
    now: Callable[[], str] = str


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The parts of one task's pipeline.

    Attributes:
        repo: the user's repository; also where the workspace appears inside the sandbox.
        worktree: the task's own checkout; the only place that the model's tools write.
        scratch: for fresh checkouts and private indexes; may be deleted at any time.
        ready: makes the worktree where it does not stand yet.
        guard: knows the tree of the worktree, and keeps commands within a scope.
        rig: how this project's tests are run; detected on first use.
        models: the model of a stage.
        price: cost of a reply in USD or None.
        secrets: values that never enter a record.
        checks: settings of the conformance checks.
        verification: settings of what is measured beyond pass and fail: mutants, coverage, returns to RED.
        trail: head and length of the log, for the commit's trailer.
        diff: unified diff between two trees; remembered.
        nonce: fences untrusted text in observations; new for every process.
        permits: the mode and the rules by which tool calls are decided.
        hooks: the user's own programs; None when there are none.
        attempts: forks and drives independent attempts from a stage on; tells how they ended and which was chosen.
        samples: answers that a small model gives to one question.
        step_tokens: what a step of a stage may cost.
        signer: the user's signing key, None = there is none.
        look: finds out whether another run has what this one needs.
        begin_part: makes a task of the part of a plan that belongs to a repository.
        check_reports: what the checks said of trees, by all that it depends on; the same is not asked twice.
        supplied: contents of the tests that the user handed over, by repository path.
        instructions: what the repository's AGENTS.md says, when the project is trusted; "" otherwise.
        guests: the agent of another maker that does a stage, None = the model does it.
        keep: keeps a snapshot of the run for good, where git would throw it away one day.
    """

    repo: Path
    worktree: Path
    scratch: Path
    git: Git
    ready: Callable[[], None]
    guard: Guard
    sandbox: Sandbox
    stages: Mapping[str, Stage]
    contracts: ContractSet
    blobs: BlobStore
    rig: Callable[[], Rig]
    models: Callable[[str], Model]
    price: Callable[[ModelReply], float | None]
    secrets: tuple[str, ...]
    checks: Mapping[str, object]
    trail: Callable[[], tuple[str, int]]
    diff: Callable[[str, str], str]
    nonce: str
    supplied: Mapping[str, bytes]
    max_output_tokens: int
    temperature: float | None
    permits: Permits = Permits()
    on_delta: Callable[[str], None] | None = None
    samples: int = 5
    step_tokens: int = TOTAL_LIMIT
    attempts: Callable[[RunState, str], Iterator[Event]] = no_attempts
    hooks: HookEngine | None = None
    instructions: Callable[[], str] = str
    keep: Callable[[RunState, str], None] = lambda _state, _tree: None
    signer: Callable[[], Signer | None] = no_signer
    guests: Callable[[str], GuestChoice | None] = no_guest
    look: Callable[[Need, RunState], Sight] = nobody_looks
    begin_part: Callable[[str, RunState], PartStarted] = nobody_begins
    check_reports: dict[object, CheckReport] = field(default_factory=dict)
    verification: Mapping[str, object] = field(default_factory=dict)


def evidence_of(state: RunState, runtime: Runtime, name: str) -> dict[str, object]:
    """Read the details behind recorded facts from their blob; {} where there are none."""
    digest = state.work.evidence.get(name)
    value = json.loads(runtime.blobs.get(digest)) if digest else {}
    return value if isinstance(value, dict) else {}
