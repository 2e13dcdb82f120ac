"""A request that is split over repositories: which part became which task, and how that changes the state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.events.event import Event
from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from agentforge.events.state import RunState

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartStarted(Event):
    """A part of the plan became a task of its own.

    Attributes:
        repo: name of the repository, as the plan has it.
        path: absolute path of that repository.
        task_id: of the task.
        base_commit: what the task starts from.
    """

    repo: str
    path: str
    task_id: str
    base_commit: str = ""


def part_started(state: RunState, event: PartStarted, _at: str) -> RunState:
    """The run knows the task of one more part."""
    row = {"path": event.path, "task_id": event.task_id, "base_commit": event.base_commit}
    return replace(state, parts={**state.parts, event.repo: row})
