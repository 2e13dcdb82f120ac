"""Events that tie runs together, and what people say of one when it is over."""

from __future__ import annotations

from typing import Literal

from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunForked(Event):
    """From here on this is a run of its own; all records before are those of its parent, byte for byte.

    Attributes:
        parent: id of the run that it was forked from.
        parent_head: hash of the last record that both share; also the `prev` of this one.
        step: the last step that both share.
        model: `provider/name` that goes on, "" = the parent's.
        program: version of agentforge that made the fork ("" = an old one).
        attempt: its number among independent attempts of the parent, 0 = a fork that a person made.
    """

    run_id: str
    parent: str
    parent_head: str
    parent_records: int
    step: int
    repo: str
    worktree: str
    branch: str
    model: str = ""
    program: str = ""
    attempt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkMade(Event):
    """Another run was forked from this one by a version of agentforge (`program`); nothing changes here."""

    child: str
    step: int
    records: int
    head: str
    program: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMarked(Event):
    """A human says what became of the delivery, through a version of agentforge (`program`): done again, or a defect."""

    mark: Literal["rework", "defect"]
    note: str = ""
    by: str = "user"
    program: str = ""
