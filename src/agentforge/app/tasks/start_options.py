"""What `start` was asked to do, as a record, and who hears what happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path

from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass

Watch = Callable[["Event", "RunState"], None]
"""Hears each event of a run with the state after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions:
    """What `start` was asked to do.

    Attributes:
        cwd: any folder of the repository.
        approve: stages whose artifact waits for approval.
        model: `provider/name`, None = by the settings.
        limits: those of events.state.Limits that were set.
        base: revision to start from, None = HEAD.
        tests: files or folders of tests that the user supplies.
        workflow: "", "fix" or "split".
        violations: the findings that a fix repairs, as they were measured at the base.
        after: what other tasks must reach first: {task_id, required_stage, repo}.
        bound: what else the first record binds, under its digests.
        pull: what it has to do with a pull request, see kinds.RunStarted.
        refactoring: a change that the run carries out by syntax tree and without a model, as RunStarted holds it.
        candidates, candidates_from: independent attempts, and the stage from which on they are independent.
    """

    request: str
    cwd: Path
    mode: kinds.Mode = "autonomous"
    approve: tuple[str, ...] = ()
    model: str | None = None
    limits: Mapping[str, int | float | None] = field(default_factory=dict)
    base: str | None = None
    include_dirty: bool = False
    apply: bool = False
    tests: tuple[str, ...] = ()
    workflow: str = ""
    violations: tuple[Mapping[str, object], ...] = ()
    after: tuple[Mapping[str, object], ...] = ()
    bound: Mapping[str, object] = field(default_factory=dict)
    pull: Mapping[str, object] = field(default_factory=dict)
    candidates: int = 1
    candidates_from: str = "green"
    refactoring: Mapping[str, object] = field(default_factory=dict)
