"""Events of tasks that a run waits for, or that it is split into, and how they change the state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal

from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from agentforge.events.state.run_state import RunState

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAwaited(Event):
    """AgentForge looked at another run, and what this run needs of it is not there.

    Attributes:
        key: names the need within this run.
        need: what is needed: {task_id, required_stage, repo, reason} or {repo, artifact, version}.
        status: "waiting" = it may come yet, "failed" = it cannot.
        seen: how the other stands, in words.
        trails: folders of the runs that are meant, this one's first.
    """

    key: str
    need: Json
    status: Literal["waiting", "failed"]
    seen: str = ""
    trails: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskArrived(Event):
    """What this run needs of another one is there.

    Attributes:
        repo: absolute path of the other's repository.
        task_id: of the run that delivered it, "" when it stands on the branch that `found` names.
        head: hash of the last record of that run when it was looked at.
        found: what was found: {commit, path, version, digest} of an artifact, with its branch where no run delivered it, or
            {stage, commit} of a task.
        base, base_ref: the commit that this run starts from instead, and the branch that holds it; "" = it keeps its own.
    """

    key: str
    repo: str = ""
    task_id: str = ""
    head: str = ""
    found: Json = field(default_factory=dict)
    base: str = ""
    base_ref: str = ""


def task_awaited(state: RunState, event: TaskAwaited, _at: str) -> RunState:
    """The run knows that it waits, or that it waits in vain."""
    seen = {"status": event.status, "need": event.need, "seen": event.seen, "trails": list(event.trails)}
    return replace(state, relations=replace(state.relations, awaited={**state.relations.awaited, event.key: seen}))


def task_arrived(state: RunState, event: TaskArrived, _at: str) -> RunState:
    """The need is met; a run that waited for what it starts from has it now."""
    seen = {"status": "arrived", "repo": event.repo, "task_id": event.task_id, "found": event.found}
    state = replace(state, relations=replace(state.relations, awaited={**state.relations.awaited, event.key: seen}))
    return (
        replace(state, identity=replace(state.identity, base_commit=event.base, base_ref=event.base_ref or None))
        if event.base
        else state
    )


def looked_at_again(awaited: Mapping[str, Json]) -> dict[str, Json]:
    """A run that goes on looks again at everything that had not arrived."""
    return {key: seen for key, seen in awaited.items() if seen.get("status") == "arrived"}


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
    return replace(
        state, relations=replace(state.relations, parts={**state.relations.parts, event.part or event.repo: row})
    )


def part_label(row: Mapping[str, object]) -> str:
    """How people are told of a part: its repository, and its name where it has one."""
    name = row.get("part") or row.get("name")
    return f"{row.get('repo')} ({name})" if name else str(row.get("repo"))
