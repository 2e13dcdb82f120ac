"""`replay --actions-only`: the recorded changes of files, step by step, on another commit; no model and no command."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.tasks.workplace import ensure_tree
from agentforge.errors import ConflictError
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import FactsGathered, StepFinished
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.store.blobs import Blobs
from agentforge.store.log.reader import read
from agentforge.store.tasks.folders import find_task
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.transplant import transplant

if TYPE_CHECKING:
    pass
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class StepConflict:
    """A file that a step could not change there; `step` 0 = the tests that the user supplied."""

    step: int
    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transplanted:
    """The recorded changes on another commit.

    Attributes:
        onto: the commit.
        steps: how many steps changed files.
        tree: what came out, without the files that are in conflict.
        same_base, same_tree: the commit holds the files of the task's base; the tree is the one that the task ended with.
        branch, commit: "" when no branch was asked for.
    """

    task_id: str
    onto: str
    steps: int
    tree: str
    same_base: bool
    same_tree: bool
    conflicts: tuple[StepConflict, ...] = ()
    branch: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """One step's change; `state` is the run's state after it."""

    step: int
    before: str
    after: str
    state: RunState


def transplant_run(cwd: Path, task_id: str, *, onto: str | None = None, branch: str | None = None) -> Transplanted:
    """Apply the recorded changes of a run to a commit.

    Args:
        onto: a revision; None = the run's own base commit.
        branch: made when given, and only when there is no conflict.
    Raises:
        ConflictError: the branch exists, or was asked for and there are conflicts.
        RepositoryError: a snapshot of the run is gone and cannot be made again.
    Side effects: objects in the repository; a branch when it was asked for. No checkout and no index is touched.
    """
    git = Git.open(cwd)
    name, folder = find_task(git.top, task_id)
    conflicts: list[StepConflict] = []
    steps, last, base = 0, "", ""
    commit = tree = ""
    with tempfile.TemporaryDirectory(prefix="agentforge-replay-") as place:
        for change in _changes(folder):
            base = base or git.tree_of(change.state.identity.base_commit)
            if not commit:
                commit = git.resolve(onto or change.state.identity.base_commit)
                tree = git.tree_of(commit)
            if change.after:
                tree, found = _applied(git, change, tree, folder, Path(place), conflicts)
                conflicts += found
                steps += 1
                last = change.after
    result = Transplanted(
        task_id=name,
        onto=commit,
        steps=steps,
        tree=tree,
        same_base=git.tree_of(commit) == base,
        same_tree=tree == (last or base),
        conflicts=tuple(conflicts),
    )
    return _with_branch(git, result, branch) if branch else result


def transplanted_value(result: Transplanted) -> dict[str, object]:
    """The result as a plain JSON value."""
    return {"ok": not result.conflicts, **asdict(result)}


def _changes(folder: Path) -> Iterator[_Change]:
    """What every step changed, oldest first; before them one without a change, for a run that has none."""
    state = RunState()
    for record in read(folder):
        event = record.event
        before = state.work.trees.get("work") or state.work.trees.get("baseline", "")
        state = evolve(state, event, at=record.at)
        if record.seq == 1:
            yield _Change(step=0, before="", after="", state=state)
        after = state.work.trees.get("work", "")
        if isinstance(event, (StepFinished, FactsGathered)) and before and after and after != before:
            yield _Change(step=getattr(event, "step", 0), before=before, after=after, state=state)


def _applied(
    git: Git, change: _Change, tree: str, folder: Path, place: Path, earlier: list[StepConflict]
) -> tuple[str, list[StepConflict]]:
    for wanted in (change.before, change.after):
        ensure_tree(wanted, git, change.state, folder=folder, blobs=Blobs(folder / "blobs"))
    blocked = [item.path for item in earlier]
    made, found = transplant(git, before=change.before, after=change.after, onto=tree, folder=place, blocked=blocked)
    return made, [StepConflict(step=change.step, path=item.path, reason=item.reason) for item in found]


def _with_branch(git: Git, result: Transplanted, branch: str) -> Transplanted:
    if result.conflicts:
        first = result.conflicts[0]
        raise ConflictError(
            f"branch {branch} is not made: {first.path} is in conflict at step {first.step} ({first.reason})",
            hint="look at all conflicts without --branch, or choose another commit",
        )
    commit = git.commit_tree(
        result.tree,
        parents=[result.onto],
        message=f"Changes of {result.task_id}\n\nAgentForge-Task: {result.task_id}\n",
    )
    git.create_branch(branch, commit)
    return replace(result, branch=branch, commit=commit)
