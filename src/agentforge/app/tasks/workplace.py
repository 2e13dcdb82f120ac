"""The worktree of a run: made from the last snapshot, made again when it is gone, found anew when the run was moved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.composition.scratch import scratch_of
from agentforge.events.kinds import StepFinished
from agentforge.pipeline.engine.interrupted_writes import redo_step
from agentforge.store.log.files import replace_file
from agentforge.store.log.reader import read
from agentforge.workspace.git.snapshots import has_object, rebuilt
from agentforge.workspace.git.worktree import worktree_of

if TYPE_CHECKING:
    from agentforge.agent.pictures import BlobStore
    from agentforge.events.state.run_state import RunState
    from agentforge.pipeline.model.runtime import Runtime
    from agentforge.workspace.git.repository import Git


def ready_worktree(state: RunState, runtime: Runtime, folder: Path) -> None:
    """Make the worktree as the log has it; one whose making was cut short is made again.

    Args:
        folder: of the run.
    Raises:
        RepositoryError: the last snapshot is gone from the repository and cannot be made again.
        IntegrityError: the finished calls of the step that was interrupted do not lead to what they led to before.
    """

    place, git = Path(state.worktree), runtime.git
    unfinished = scratch_of(place) / "unfinished"
    if (place / ".git").exists() and not unfinished.exists():
        return
    replace_file(unfinished, b"")
    if place.exists():
        git.remove_worktree(place)
    git.add_worktree(place, state.base_commit)
    tree = state.trees.get("work")
    if tree:
        ensure_tree(tree, git, state, folder=folder, blobs=runtime.blobs)
        git.reset_files(place, tree, index=scratch_of(place) / "index")
    redo_step(state, runtime)
    unfinished.unlink()


def drop_worktree(git: Git, state: RunState) -> None:
    """Remove the worktree and what lies beside it; what is already gone is no error.

    A folder that a trail names and that no task could have been given is left alone: a trail may come from elsewhere.
    """
    import shutil

    place = Path(state.worktree)
    if not place.is_absolute() or place.name != state.run_id or place.parent.parent.name != "worktrees":
        return
    if place.exists():
        git.remove_worktree(place)
    shutil.rmtree(scratch_of(place), ignore_errors=True)


def moved(state: RunState, git: Git, *, data: Path) -> dict[str, str]:
    """Where repository and worktree are now, when that is not where the log says: the run was copied, or its user moved.

    Args:
        git: the repository that the run's folder lies in.
        data: the data folder of this user.
    """

    place = worktree_of(git, data_dir=data, task_id=state.run_id).path
    if str(git.top) == state.repo and (str(place) == state.worktree or Path(state.worktree).exists()):
        return {}
    return {"repo": str(git.top), "worktree": str(place)}


def ensure_tree(tree: str, git: Git, state: RunState, *, folder: Path, blobs: BlobStore) -> None:
    """Make sure that the repository holds a snapshot of the run; a lost one is made again from the recorded patches.

    Raises:
        RepositoryError: that does not succeed.
    """

    if has_object(git, tree):
        return
    index = scratch_of(Path(state.worktree)) / "rebuilding.index"
    start = git.tree_of(state.base_commit)
    rebuilt(git, tree, start=start, patches=_patches(folder, blobs), index=index)


def _patches(folder: Path, blobs: BlobStore) -> Iterator[bytes]:

    for record in read(folder):
        if isinstance(record.event, StepFinished) and record.event.patch:
            yield blobs.get(record.event.patch)
