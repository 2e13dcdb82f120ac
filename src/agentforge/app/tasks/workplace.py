"""The worktree of a run: made from the last snapshot, made again when it is gone, found anew when the run was moved.

Writes of the step that was interrupted, done again in a worktree that was made anew from the snapshot before it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from agentforge.agent import BlobStore
from agentforge.app.composition.run_inputs import scratch_of
from agentforge.app.tasks.left_worktrees import taken_over
from agentforge.errors import IntegrityError
from agentforge.events.kinds import StepFinished
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.stage_agent import agent_spec
from agentforge.pipeline.model.runtime import Runtime
from agentforge.store.log.files import replace_file
from agentforge.store.log.reader import read
from agentforge.tools.base import Observation
from agentforge.tools.dispatch.invocation import perform_call, prepare_call
from agentforge.workspace.files.file_access import digest_file
from agentforge.workspace.git.objects import has_object
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.snapshots import rebuilt
from agentforge.workspace.git.worktree import worktree_of


def ready_worktree(state: RunState, runtime: Runtime, folder: Path) -> None:
    """Make the worktree as the log has it; one whose making was cut short is made again.

    Args:
        folder: of the run.
    Raises:
        RepositoryError: the last snapshot is gone from the repository and cannot be made again.
        IntegrityError: the finished calls of the step that was interrupted do not lead to what they led to before.
    """
    place, git = Path(state.identity.worktree), runtime.git
    unfinished = scratch_of(place) / "unfinished"
    if (place / ".git").exists() and not unfinished.exists():
        return
    replace_file(unfinished, b"")
    if place.exists():
        git.remove_worktree(place)
    tree = state.work.trees.get("work")
    if not taken_over(state, git):
        git.add_worktree(place, state.identity.base_commit)
    elif not tree:
        runtime.guard.stands(git.tree_of(state.identity.base_commit))
    if tree:
        ensure_tree(tree, git, state, folder=folder, blobs=runtime.blobs)
        git.reset_files(place, tree, index=scratch_of(place) / "index")
    redo_step(state, runtime)
    unfinished.unlink()


def drop_worktree(git: Git, state: RunState) -> None:
    """Remove the worktree and what lies beside it; what is already gone is no error.

    A folder that a trail names and that no task could have been given is left alone: a trail may come from elsewhere.
    """
    place = Path(state.identity.worktree)
    if not place.is_absolute() or place.name != state.identity.run_id or place.parent.parent.name != "worktrees":
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
    place = worktree_of(git, data_dir=data, task_id=state.identity.run_id).path
    if str(git.top) == state.identity.repo and (
        str(place) == state.identity.worktree or Path(state.identity.worktree).exists()
    ):
        return {}
    return {"repo": str(git.top), "worktree": str(place)}


def ensure_tree(tree: str, git: Git, state: RunState, *, folder: Path, blobs: BlobStore) -> None:
    """Make sure that the repository holds a snapshot of the run; a lost one is made again from the recorded patches.

    Raises:
        RepositoryError: that does not succeed.
    """
    if has_object(git, tree):
        return
    index = scratch_of(Path(state.identity.worktree)) / "rebuilding.index"
    start = git.tree_of(state.identity.base_commit)
    rebuilt(git, tree, start=start, patches=_patches(folder, blobs), index=index)


def _patches(folder: Path, blobs: BlobStore) -> Iterator[bytes]:
    for record in read(folder):
        if isinstance(record.event, StepFinished) and record.event.patch:
            yield blobs.get(record.event.patch)


def redo_step(state: RunState, runtime: Runtime) -> None:
    """Carry out the finished writes of the current step once more: no snapshot holds them yet.

    Raises:
        IntegrityError: a file does not come out as it was recorded.
    Side effects: files of the worktree.
    """
    done = [result for result in state.progress.turn.results if result.changed]
    if not done or not state.progress.stage:
        return

    spec = agent_spec(state, runtime, ())
    context = replace(spec.tool_context, seen={})  # what the model saw was the state before these writes
    root = context.root
    for result in done:
        call = state.progress.turn.calls[result.index]
        prepared = prepare_call(call.name, call.arguments, tools=spec.tools, context=context, policy=spec.policy)
        if not isinstance(prepared, Observation):
            perform_call(prepared, context=context, policy=replace(spec.policy, hooks=None))
    wanted = {path: digest for result in done for path, digest in result.changed.items()}
    for path, digest in wanted.items():
        now = digest_file(root / path) if (root / path).is_file() else ""
        if now != digest:
            raise IntegrityError(
                f"step {state.progress.turn.step} cannot be repeated: {path} does not come out as recorded",
                hint="the worktree was lost in the middle of this step; go back with: agentforge fork",
            )
