"""A request that is split into parts: which part became which task, and how that changes the state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from agentforge.events.state.run_state import RunState

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartStarted(Event):
    """A part of the plan became a task of its own.

    Attributes:
        repo: name of the repository, as the plan has it.
        path: absolute path of that repository.
        task_id: of the task.
        base_commit: what the task starts from, unless it waits for another part of the same repository.
        part: its name within the plan, "" = that of its repository.
    """

    repo: str
    path: str
    task_id: str
    base_commit: str = ""
    part: str = ""


def part_started(state: RunState, event: PartStarted, _at: str) -> RunState:
    """The run knows the task of one more part."""
    row = {"path": event.path, "task_id": event.task_id, "base_commit": event.base_commit}
    if event.part:
        row |= {"repo": event.repo, "part": event.part}
    return replace(state, parts={**state.parts, event.part or event.repo: row})


def part_label(row: Mapping[str, object]) -> str:
    """How people are told of a part: its repository, and its name where it has one."""
    name = row.get("part") or row.get("name")
    return f"{row.get('repo')} ({name})" if name else str(row.get("repo"))
