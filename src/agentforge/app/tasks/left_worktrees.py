"""A task in a large repository takes over the worktree of a delivered task, which `gc` would remove.

Writing 50,000 files costs a processor fifteen seconds; making a worktree equal to another commit less than one.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from agentforge.app.composition.run_inputs import scratch_of
from agentforge.errors import AgentForgeError
from agentforge.events.state.run_state import RunState
from agentforge.store.log.lease import Lease
from agentforge.store.log.reader import load_state
from agentforge.store.log.records import utc_now
from agentforge.store.tasks.folders import tasks_folder
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.tree_snapshot import FEWEST_FILES, is_large
from agentforge.workspace.git.worktree import Worktree, take_over


def taken_over(state: RunState, git: Git, *, fewest: int = FEWEST_FILES) -> bool:
    """Make the worktree of a task out of that of a delivered one.

    A worktree stays as it is where a file is another one than was delivered, or where a process works in it.

    Args:
        fewest: files that a worktree has to have to be taken over.
    Returns:
        Whether there was one; where there was none, nothing stands at the place of the new one.
    """
    place = Path(state.identity.worktree)
    for old in _left(place.parent, git, fewest=fewest):
        with suppress(AgentForgeError, OSError):
            lease = Lease.take(tasks_folder(git.top) / old.path.name, since=utc_now())
            try:
                if _is_over(old):
                    take_over(old, place, state.identity.base_commit)
                    shutil.rmtree(scratch_of(old.path), ignore_errors=True)
                    return True
            finally:
                lease.release()
        git.remove_worktree(place)
    return False


def _left(folder: Path, git: Git, *, fewest: int) -> Iterator[Worktree]:
    """The large worktrees of tasks of this repository, the newest first."""
    found = [Worktree(git=git, path=path, index=scratch_of(path) / "index") for path in folder.glob("task-*")]
    large = [
        old for old in found if (tasks_folder(git.top) / old.path.name).is_dir() and is_large(old.index, fewest=fewest)
    ]
    yield from sorted(large, key=lambda old: old.index.stat().st_mtime, reverse=True)


def _is_over(old: Worktree) -> bool:
    """Whether a worktree holds what its task delivered, and nobody works in it."""
    state = load_state(tasks_folder(old.git.top) / old.path.name)
    commit = str((state.work.delivered or {}).get("commit", ""))
    if state.progress.outcome != "delivered" or state.identity.worktree != str(old.path) or not commit:
        return False
    return not _is_in_use(old.path) and old.snapshot() == old.git.tree_of(commit)


def _is_in_use(folder: Path) -> bool:
    """Whether a process of this user works in a folder: a shell that somebody left open."""
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if link.readlink().is_relative_to(folder):
                return True
    return False
