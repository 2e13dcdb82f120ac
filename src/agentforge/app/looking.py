"""Looking at tasks without becoming their writer: the list, one run, the repository they belong to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.result import RunResult

if TYPE_CHECKING:
    from agentforge.store.tasks import TaskRow


def listing(cwd: Path) -> list[TaskRow]:
    """The tasks of the repository, newest first."""
    from agentforge.store.tasks import list_tasks

    return list_tasks(repository(cwd))


def load(cwd: Path, task_id: str) -> RunResult:
    """Read a task without becoming its writer.

    Raises:
        UsageError: there is no such task, or several fit.
        IntegrityError: its log was altered, damaged or cut off.
    """
    from agentforge.store.intact import refuse_cut
    from agentforge.store.lease import read_holder
    from agentforge.store.reader import fold
    from agentforge.store.tasks import find_task

    _, folder = find_task(repository(cwd), task_id)
    refuse_cut(folder)
    found = fold(folder)
    return RunResult(
        state=found.state,
        folder=folder,
        head=found.head,
        records=found.length,
        running=read_holder(folder).alive,
    )


def task_folder(cwd: Path, task_id: str) -> Path:
    """The folder of a task; its log is not read.

    Raises:
        UsageError: there is no such task, or several fit.
    """
    from agentforge.store.tasks import find_task

    return find_task(repository(cwd), task_id)[1]


def repository(cwd: Path) -> Path:
    """Top level of the repository around a folder.

    Raises:
        RepositoryError: there is none that can carry a task.
    """
    from agentforge.workspace.git import Git

    return Git.open(cwd).top
