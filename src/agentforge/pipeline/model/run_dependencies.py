"""What a run needs of other runs: read from its first record and its specification, and decided upon. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from agentforge.agent import Effect
from agentforge.events import kinds
from agentforge.events.kinds.choices import fixed
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.effects import Ask, AwaitTask
from agentforge.pipeline.model.stage import Json, items

WITHOUT = "without"
"""The answer that lets a run go on without what it needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One thing that a run needs of another.

    Attributes:
        task_id: the other run; "" when any delivered run of `repo` will do.
        stage: the stage that the other must have passed.
        repo: name of the other's repository, "" = wherever the task is found.
        artifact, version: what must stand in the delivered commit; "" for a task.
        onto: the run starts from what the other delivered.
    """

    task_id: str = ""
    stage: str = "deliver"
    repo: str = ""
    artifact: str = ""
    version: str = ""
    reason: str = ""
    onto: bool = False

    @property
    def key(self) -> str:
        """The name of this need within the run."""
        if self.task_id:
            return f"task:{self.repo}:{self.task_id}:{self.stage}"
        return f"artifact:{self.repo}:{self.artifact}:{self.version}"

    @property
    def words(self) -> str:
        """The need as people read it."""
        where = f" of {self.repo}" if self.repo else ""
        if self.task_id:
            return f"stage {self.stage} of task {self.task_id}{where}"
        return f"artifact {self.artifact} {self.version or 'of any version'}{where}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What was seen of another run.

    Attributes:
        status: "failed" = it will not come any more.
        seen: in words.
        trails: folders of the runs that are meant.
        circle: the way on which the other run waits for this one, () when it does not.
        repo, task_id, head, found, branch: as in events.awaiting.TaskArrived; branch is where the delivery lies.
    """

    status: Literal["arrived", "waiting", "failed"]
    seen: str = ""
    trails: tuple[str, ...] = ()
    circle: tuple[str, ...] = ()
    repo: str = ""
    task_id: str = ""
    head: str = ""
    found: Json | None = None
    branch: str = ""


def needs(state: RunState) -> tuple[Need, ...]:
    """Everything that the run needs of others: given when it began, and by its specification once that is accepted."""
    found = [_artifact_need(row) if row.get("artifact") else _task_need(row) for row in state.relations.after]
    found += specified(state.work.artifacts.get("spec", {}))
    return tuple({need.key: need for need in found}.values())


def specified(spec: Json) -> list[Need]:
    """What a specification says that others must deliver first."""
    wanted = spec.get("dependencies")
    if not isinstance(wanted, Mapping):
        return []
    return [
        *(_task_need(row) for row in items(wanted.get("tasks"))),
        *(_artifact_need(row) for row in items(wanted.get("external"))),
    ]


def unmet(state: RunState) -> tuple[Need, ...]:
    """What has not arrived, and what no human let go."""
    if not state.relations.after and "spec" not in state.work.artifacts:
        return ()
    dropped = set(_dropped(state))
    return tuple(
        need
        for need in needs(state)
        if need.key not in dropped and state.relations.awaited.get(need.key, {}).get("status") != "arrived"
    )


def await_next(state: RunState) -> Effect | None:
    """Look at what was not looked at yet; ask a human about what cannot come; None = the run waits."""
    open_needs = unmet(state)
    for need in open_needs:
        if need.key not in state.relations.awaited:
            return AwaitTask(key=need.key)
    for need in open_needs:
        if state.relations.awaited[need.key].get("status") == "failed":
            return _question(state, need)
    return None


def event_of(need: Need, sight: Sight) -> kinds.Event:
    """What is recorded of a look."""
    if sight.status == "arrived":
        found = sight.found or {}
        base = {"base": str(found.get("commit", "")), "base_ref": sight.branch} if need.onto else {}
        return kinds.TaskArrived(
            key=need.key, repo=sight.repo, task_id=sight.task_id, head=sight.head, found=found, **base
        )
    return kinds.TaskAwaited(
        key=need.key, need=need_value(need), status=sight.status, seen=sight.seen, trails=sight.trails
    )


def need_value(need: Need) -> dict[str, object]:
    """The need as a specification holds it."""
    values = {
        "task_id": need.task_id,
        "required_stage": need.stage if need.task_id else "",
        "repo": need.repo,
        "artifact": need.artifact,
        "version": need.version,
        "reason": need.reason,
        "onto": need.onto,
    }
    return {name: value for name, value in values.items() if value}


def _question(state: RunState, need: Need) -> Ask:
    seen = state.relations.awaited[need.key]
    trails = seen.get("trails")
    named = "".join(f"\n- {trail}" for trail in trails) if isinstance(trails, list) else ""
    why = f" ({need.reason})" if need.reason else ""
    return Ask(
        stage="",
        kind="conflict",
        reason=f"{need.words} is not available: {seen.get('seen')}",
        question=f"This task needs {need.words}{why}. Provide it and answer `again`, or answer `{WITHOUT}` to continue "
        f"without it. The records are here:{named}",
        options=("again", WITHOUT),
        choices=(
            fixed("again", "AgentForge looks whether it is there now."),
            fixed(WITHOUT, "The task continues without it."),
        ),
        context=(("needs", need.key), ("trails", tuple(trails) if isinstance(trails, list) else ())),
    )


def _dropped(state: RunState) -> Iterator[str]:
    for item in state.people.escalations.values():
        answer = item.resolution
        if answer is None or "needs" not in item.context:
            continue
        if answer.decision == "approve" or (answer.decision == "answer" and answer.text.strip().lower() == WITHOUT):
            yield str(item.context["needs"])


def _task_need(row: Json) -> Need:
    """A task is named by its id, or by `REPOSITORY/id`."""
    repo, _, task_id = str(row.get("task_id", "")).rpartition("/")
    return Need(
        task_id=task_id,
        stage=str(row.get("required_stage") or "deliver"),
        repo=str(row.get("repo") or repo),
        reason=str(row.get("reason", "")),
        onto=row.get("onto") is True,
    )


def _artifact_need(row: Json) -> Need:
    return Need(
        repo=str(row.get("repo", "")),
        artifact=str(row.get("artifact", "")),
        version=str(row.get("version", "")),
        reason=str(row.get("reason", "")),
    )
