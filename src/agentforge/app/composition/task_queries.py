"""Looking at tasks without becoming their writer: the list, one run, the repository they belong to."""

from __future__ import annotations

from pathlib import Path

from agentforge.app.composition.run_result import RunResult
from agentforge.store.log.intact import refuse_cut
from agentforge.store.log.lease import read_holder
from agentforge.store.log.reader import fold
from agentforge.store.tasks.folders import TaskRow, find_task, list_tasks
from agentforge.workspace.git.repository import Git


def listing(cwd: Path) -> list[TaskRow]:
    """The tasks of the repository, newest first."""
    return list_tasks(repository(cwd))


def load(cwd: Path, task_id: str) -> RunResult:
    """Read a task without becoming its writer.

    Raises:
        UsageError: there is no such task, or several fit.
        IntegrityError: its log was altered, damaged or cut off.
    """
    _, folder = find_task(repository(cwd), task_id)
    refuse_cut(folder)
    found = fold(folder)
    return RunResult(
        state=found.state, folder=folder, head=found.head, records=found.length, running=read_holder(folder).alive
    )


def task_folder(cwd: Path, task_id: str) -> Path:
    """The folder of a task; its log is not read.

    Raises:
        UsageError: there is no such task, or several fit.
    """
    return find_task(repository(cwd), task_id)[1]


def repository(cwd: Path) -> Path:
    """Top level of the repository around a folder.

    Raises:
        RepositoryError: there is none that can carry a task.
    """
    return Git.open(cwd).top
