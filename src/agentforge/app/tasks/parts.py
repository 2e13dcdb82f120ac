"""The tasks that the parts of a split request have become."""

from __future__ import annotations

from pathlib import Path

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.store.tasks.folders import TaskRow, task_row, tasks_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPart:
    """A part of a plan that has become a task.

    Attributes:
        name: what the plan calls it: a name of its own, else that of its repository.
        row: how the task stands.
    """

    name: str
    repo: str
    path: Path
    task_id: str
    row: TaskRow


def parts_of(state: RunState) -> list[SplitPart]:
    """The tasks that a plan has become, in the order in which they can be delivered, and how they stand."""
    found = []
    for name, row in state.relations.parts.items():
        path, task = Path(str(row["path"])), str(row["task_id"])
        found.append(
            SplitPart(
                name=name,
                repo=str(row.get("repo") or name),
                path=path,
                task_id=task,
                row=task_row(tasks_folder(path) / task),
            )
        )
    return found
